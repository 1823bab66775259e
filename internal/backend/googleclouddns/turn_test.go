package googleclouddns

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/backendtest"
	"github.com/zonefold/zonefold/internal/backend/googleclouddns/clouddnstest"
	"github.com/zonefold/zonefold/internal/plan"
)

// onlyTokens is the way to a service that gives tokens, and then hangs.
type onlyTokens struct{ backendtest.Hanging }

// RoundTrip implements http.RoundTripper.
func (o onlyTokens) RoundTrip(r *http.Request) (*http.Response, error) {
	if !strings.HasSuffix(r.URL.Path, "/token") {
		return o.Hanging.RoundTrip(r)
	}
	answer := httptest.NewRecorder()
	answer.Header().Set("Content-Type", "application/json")
	_, err := answer.WriteString(`{"access_token":"token-1","token_type":"Bearer","expires_in":3600}`)
	return answer.Result(), err
}

func TestWhoWaitsWhileAnotherCallHangsGivesUpInTime(t *testing.T) {
	document := clouddnstest.Document(clouddnstest.NewKey(), nil)
	read := func(ctx context.Context, z *Zone) error {
		_, err := z.Read(ctx, z.name, backend.Ask{})
		return err
	}
	change := func(ctx context.Context, z *Zone) error {
		_, err := z.Apply(ctx, z.name, backend.Batch{Changes: []plan.Change{put(www(t, "192.0.2.1"))}})
		return err
	}
	for _, c := range []struct {
		name        string
		way         http.RoundTripper
		hangs, call func(context.Context, *Zone) error
	}{
		{"to read", onlyTokens{}, read, read},
		{"to change something", onlyTokens{}, read, change},
		{"for a token", backendtest.Hanging{}, read, func(ctx context.Context, z *Zone) error {
			_, err := z.client.HostedZones(ctx)
			return err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, err := New(Config{ServiceAccount: document, HTTP: c.way})
				if err != nil {
					t.Fatal(err)
				}
				z := client.Backend(backend.HostedZone{ID: "zone", Name: parse(t, "example.org.")}).(*Zone)
				backendtest.Impatient(t, func(ctx context.Context) error { return c.hangs(ctx, z) },
					func(ctx context.Context) error { return c.call(ctx, z) })
			})
		})
	}
}
