package show

import (
	"testing"

	"github.com/zonefold/zonefold/internal/cli/command"
	"github.com/zonefold/zonefold/internal/cli/fold"
	"github.com/zonefold/zonefold/internal/cli/manifest"
)

func TestTheConsoleShowsWhatIsHeldOfZonesOfAllKinds(t *testing.T) {
	const status = `, status: {serial: 7, held: {plan: p, sets: 2, examples: [www.example.org. A]}}}`
	for _, c := range []struct{ name, object string }{
		{"a Zone", `{apiVersion: kubi.zone/v1alpha1, kind: Zone, metadata: {name: a, namespace: dns},
			spec: {domainName: example.org.}`},
		{"a DNSZone", `{apiVersion: bindy.firestoned.io/v1beta1, kind: DNSZone, metadata: {name: a, namespace: dns},
			spec: {zoneName: example.org, soaRecord: {primaryNs: ns.example.net., adminEmail: noc.example.net.}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := []byte(c.object + status)
			in, err := manifest.Read(manifest.Options{Texts: []manifest.Text{{Name: "it", Text: text}}})
			if err != nil {
				t.Fatal(err)
			}
			w := newConsoleWorld(command.Env{}, command.ObjectFlags{}, "", fold.New())
			w.put(&command.Found{Input: in, Cluster: true})
			world, _ := w.World()
			if len(world.Zones) != 1 {
				t.Fatalf("there are %d zones: %v", len(world.Zones), in.Problems)
			}
			z := world.Zones[0]
			if z.Serial != "7" || z.Held == nil || z.Held.Plan != "p" || z.Held.Sets != 2 || len(z.Held.Examples) != 1 {
				t.Errorf("of serial %q it shows %+v", z.Serial, z.Held)
			}
		})
	}
}
