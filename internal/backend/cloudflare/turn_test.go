package cloudflare

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/cloudflare/cloudflaretest"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

func TestWhoWaitsWhileAnotherCallHangsGivesUpInTime(t *testing.T) {
	for _, c := range []struct {
		name string
		call func(context.Context, *Zone) error
	}{
		{"to read", read},
		{"to change something", func(ctx context.Context, z *Zone) error {
			want := set(t, "www.example.org.", rr.TypeA, 300, "192.0.2.1")
			_, err := z.Apply(ctx, z.name, backend.Batch{Changes: []plan.Change{{Key: want.Key(), Want: want}}})
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, err := New(Config{Token: cloudflaretest.Token, HTTP: backendtest.Hanging{}})
				if err != nil {
					t.Fatal(err)
				}
				z := client.Backend(backend.HostedZone{ID: testID, Name: parse(t, "example.org.")}).(*Zone)
				backendtest.Impatient(t, func(ctx context.Context) error { return read(ctx, z) },
					func(ctx context.Context) error { return c.call(ctx, z) })
			})
		})
	}
}

func read(ctx context.Context, z *Zone) error {
	_, err := z.Read(ctx, z.name, backend.Ask{})
	return err
}
