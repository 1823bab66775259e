package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/zonefold/zonefold/test/sim"
)

// TestALifeOfReplicas ends with the same zones at both operators' name servers, and has what is wrong denied.
func TestALifeOfReplicas(t *testing.T) {
	out := lived(t, lifeOf(t, filepath.Join("..", "..", "test", "sim", "testdata", "embedded.txtar")), kindsOf(t))
	for _, wrong := range out.Wrong {
		t.Error(wrong)
	}
	if diff := cmp.Diff([]string{"Record a/wrong", "Zone a/bad"}, out.Denied); diff != "" {
		t.Errorf("what is denied, -want +got:\n%s", diff)
	}
	has := " example.org.\n  example.org. NS 360 ns.example.com.\n  www.example.org. A 360 192.0.2.91\n"
	if !strings.HasPrefix(out.State, has) || strings.Contains(out.State, "example.net. NS") {
		t.Errorf("the name servers of operators have\n%s\nand not only\n%s", out.State[:min(len(out.State), 500)], has)
	}
}

// TestAnOperatorEndsWhoseAPIServerIsGoneSoon has its name server and its fleets end too, whatever it has come to.
func TestAnOperatorEndsWhoseAPIServerIsGoneSoon(t *testing.T) {
	kinds := kindsOf(t)
	for _, dialects := range []string{"kubizone", "bindy kubizone"} {
		for ms := 0; ms < 20; ms += 2 {
			t.Run(fmt.Sprintf("%s, %d ms after it began", dialects, ms), func(t *testing.T) {
				t.Parallel()
				endsWell(t, kinds, fmt.Sprintf(begins, dialects, ms))
			})
		}
	}
}

// TestAnOperatorEndsThatHasNotReadAllSecrets has nobody wait for them.
func TestAnOperatorEndsThatHasNotReadAllSecrets(t *testing.T) {
	endsWell(t, kindsOf(t), unreadSecrets)
}

func endsWell(t *testing.T, kinds *sim.Kinds, life string) {
	t.Helper()
	l, err := sim.ParseLife([]byte(life))
	if err != nil {
		t.Fatal(err)
	}
	l.Rights = rightsOf(t, l.Dialects()...)
	if out := lived(t, l, kinds); len(out.Wrong) > 0 {
		t.Error(strings.Join(out.Wrong, "\n"))
	}
}

const begins = `An operator with a name server of its own begins, and its API server goes away meanwhile.
-- operators 2 --
-- apply --
apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: own}
spec: {embedded: {}}
-- begin %s --
-- wait 20s --
-- absent 1m --
-- wait 1m --
-- wait %dms --
-- gone 3m --
-- wait 4m --
`

const unreadSecrets = `Watches of Secrets break off while an operator begins, and it ends before it has read them.
-- apply --
apiVersion: v1
kind: Secret
metadata: {name: one, namespace: zonefold-system}
-- apply --
apiVersion: v1
kind: Secret
metadata: {name: two, namespace: zonefold-system}
-- broken secrets 60s --
-- begin kubizone --
-- wait 20s --
-- absent 1m --
`
