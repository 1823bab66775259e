package zones

import (
	"context"
	"log/slog"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/zonefold/zonefold/internal/controller"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/zone"
)

// TestWhatAPodHasLostIsForgotten is what has a zone that comes back under the same serial told to the pod again.
func TestWhatAPodHasLostIsForgotten(t *testing.T) {
	for _, tt := range []struct {
		sentence, name string
		pod            types.UID
		forgotten      bool
	}{
		{"the zone at the pod", "example.com", "p", true},
		{"the zone, written with a dot", "example.com.", "p", true},
		{"another zone at the pod", "example.net", "p", false},
		{"the zone at another pod", "example.com", "q", false},
		{"no name", "", "p", false},
	} {
		t.Run(tt.sentence, func(t *testing.T) {
			id := dialect.ZoneID("a", "example")
			name, err := dnsname.Parse("example.com.")
			if err != nil {
				t.Fatal(err)
			}
			f := &follow{zone: id, name: name, told: "x", serial: 7, need: 3, whole: true, asked: asked{seen: 7}}
			z := &Zones{
				servers: controller.NewWriter(1, slog.New(slog.DiscardHandler), func(context.Context, zone.ID) error {
					return nil
				}),
			}
			z.knowNothing()
			st, unlock := z.state.Lock()
			st.follows[id] = map[types.UID]*follow{"p": f}
			unlock()
			(&sweep{z: z}).removed(tt.pod, tt.name)
			if gone := !f.there() && f.serial == 0 && f.seen == 0 && f.need == 0 && !f.whole; gone != tt.forgotten {
				t.Errorf("it is known yet: %+v", f)
			}
		})
	}
}
