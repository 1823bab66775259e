package bind9

import (
	"strings"
	"testing"
)

// TestAServerWithASignedZoneStartsAgain takes the signing out of its configuration meanwhile, and gives it other
// values.
func TestAServerWithASignedZoneStartsAgain(t *testing.T) {
	n := claimNamed(t)
	for i, s := range []Signing{{Enabled: true, Policy: "ours", Algorithm: "ED25519"}, {}, {Enabled: true, NSEC3: true}} {
		if err := n.configured(t, Options{Signing: s}); err != nil {
			t.Fatal(err)
		}
		n.start(t)
		if i == 0 {
			n.write(t, "data/good.db", goodZone)
			n.do(t, must(AddZone("good.example", Zone{Type: Primary, File: "good.db",
				AllowUpdate: ACL{must(ListElement(UpdateList))}, DNSSECPolicy: ZonePolicy})))
		}
		if text := n.do(t, must(ZoneCommand("showzone", "good.example"))); !strings.Contains(text, ZonePolicy) {
			t.Errorf("with %+v the zone is %s", s, text)
		}
		n.Kill()
	}
}
