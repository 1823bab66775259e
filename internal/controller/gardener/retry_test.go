package gardener_test

import (
	"context"
	"slices"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/gardener/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller/gardener"
)

// What has failed is tried again with what is wanted by then, as Gardener's controllers do, also if nobody asks for it.
func TestARetryDecidesAnew(t *testing.T) {
	s := startPowerDNS(t, "example.org")
	for _, c := range []struct {
		sentence string
		ignore   bool
		change   func(w *world)
		want     string
		holds    string
	}{
		{"a spec that was corrected is carried out", false, func(w *world) {
			w.patch("api", `{"spec":{"secretRef":{"name":"creds"},"values":["192.0.2.2"]}}`)
		}, "Create Succeeded", "120 192.0.2.2"},
		{"credentials alone that are right do, too", false, func(w *world) {
			w.patch("api", `{"spec":{"secretRef":{"name":"creds"}}}`)
		}, "Create Succeeded", "120 192.0.2.1"},
		{"an annotation counts that alone would not", true, func(w *world) { w.ask("api", "migrate") }, "Migrate Succeeded",
			""},
		{"it is a restoration if that is what somebody wants", true, func(w *world) {
			w.ask("api", "restore")
			w.secret("bad", s.secret)
		}, "Restore Succeeded", "120 192.0.2.1"},
		{"the annotation goes though it fails again", true, func(w *world) {
			w.ask("api", "reconcile")
			w.until("api", "Create Error [ERR_INFRA_UNAUTHENTICATED]")
			w.secret("bad", s.secret)
		}, "Create Succeeded", "120 192.0.2.1"},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			w := newWorld(t, func(g *gardener.Config) { g.Trigger.IgnoreAnnotation = c.ignore })
			name := w.ns + ".example.org"
			w.secret("creds", s.secret)
			w.secret("bad", wrong(s))
			w.record("api", "powerdns bad A "+name+" 192.0.2.1")
			w.until("api", "Create Error [ERR_INFRA_UNAUTHENTICATED]")
			c.change(w)
			w.until("api", c.want)
			w.holds(s, "A "+name, c.holds)
		})
	}
}

func TestARetryDecidesAnewAboutADeletion(t *testing.T) {
	s := startPowerDNS(t, "example.org")
	w := newWorld(t, func(g *gardener.Config) { g.Trigger.IgnoreAnnotation = true })
	w.secret("creds", s.secret)
	w.record("api", "powerdns creds A api.example.org 192.0.2.1")
	w.until("api", "Create Succeeded")
	w.stop()
	w.secret("creds", wrong(s))
	w.start()
	w.delete("api")
	w.unauthorised("api", "Delete")
	w.ask("api", "migrate")
	w.until("api", "gone")
	w.holds(s, "A api.example.org", "120 192.0.2.1")
}

// TestWhatTheEngineTriesAgainIsNotOutOfDate has a spec change while the server is away.
func TestWhatTheEngineTriesAgainIsNotOutOfDate(t *testing.T) {
	s := startBIND(t, "example.org")
	w := newWorld(t)
	w.secret("creds", s.secret)
	w.record("api", "rfc2136 creds A api.example.org 192.0.2.1")
	w.until("api", "Create Succeeded")
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	w.ask("api", "reconcile")
	w.until("api", "Reconcile Error [ERR_RETRYABLE_INFRA_DEPENDENCIES]")
	w.record("api", "rfc2136 creds A api.example.org 192.0.2.2")
	if err := s.Start(w.ctx); err != nil {
		t.Fatal(err)
	}
	w.until("api", "Reconcile Succeeded")
	w.holds(s, "A api.example.org", "120 192.0.2.2")
	if o := w.get("api"); o.Status.ObservedGeneration != o.Generation {
		t.Errorf("generation %d was carried out of %d", o.Status.ObservedGeneration, o.Generation)
	}
}

// TestWhatFailsIsNotTriedAgainWhileItWaits has what failed wait for a state: nothing is tried until somebody asks, also
// afterwards.
func TestWhatFailsIsNotTriedAgainWhileItWaits(t *testing.T) {
	s := startPowerDNS(t, "example.org")
	w := newWorld(t)
	w.secret("bad", wrong(s))
	w.record("api", "powerdns bad A api.example.org 192.0.2.1")
	w.unauthorised("api", "Create")
	w.ask("api", v1alpha1.OperationWaitForState)
	w.secret("bad", s.secret)
	// by the time that this is done, the other would have been
	w.record("last", "powerdns bad A last.example.org 192.0.2.1")
	w.until("last", "Create Succeeded")
	w.ask("last", "reconcile")
	w.until("last", "Reconcile Succeeded")
	if got := w.says("api"); got != "Create Error [ERR_INFRA_UNAUTHENTICATED]" {
		t.Errorf("it says %q", got)
	}
	w.ask("api", "reconcile")
	w.until("api", "Create Succeeded")
	w.holds(s, "A api.example.org", "120 192.0.2.1")
}

// TestAShootWithoutAClusterWaitsForIt has the Cluster come after the operator has looked for it.
func TestAShootWithoutAClusterWaitsForIt(t *testing.T) {
	s := startPowerDNS(t, "example.org")
	for sentence, instead := range map[string]error{
		"there is no Cluster": nil, "nor any definition of Clusters": &apimeta.NoKindMatchError{},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := newWorld(t)
			w.secret("creds", s.secret)
			w.stop()
			missed := make(chan struct{}, 1)
			w.config.Live = missing{w.live, missed, instead}
			w.noCluster()
			w.record("api", "powerdns creds A "+w.ns+".example.org 192.0.2.1")
			w.start()
			for range 2 { // it is looked for again
				select {
				case <-missed:
				case <-w.ctx.Done():
					t.Fatal("nobody looks for the Cluster")
				}
			}
			w.shoot("{status: {lastOperation: {state: Processing}}}")
			w.until("api", "Create Succeeded")
			var told []string
			for len(w.events.Events) > 0 {
				told = append(told, <-w.events.Events)
			}
			if want := "Warning NoCluster The namespace " + w.ns + " is one of a shoot, but there is no Cluster " + w.ns +
				"; nothing is done until there is."; !slices.Equal(told, []string{want}) {
				t.Errorf("the events are %q, want one: %q", told, want)
			}
		})
	}
}

// missing is a Reader that tells of Clusters that were not there.
type missing struct {
	client.Reader
	missed  chan<- struct{}
	instead error // of the error that it is not there, unless nil
}

func (m missing) Get(ctx context.Context, key client.ObjectKey, o client.Object, options ...client.GetOption) error {
	err := m.Reader.Get(ctx, key, o, options...)
	if o.GetObjectKind().GroupVersionKind().Kind == "Cluster" && apierrors.IsNotFound(err) {
		select {
		case m.missed <- struct{}{}:
		default:
		}
		if m.instead != nil {
			return m.instead
		}
	}
	return err
}
