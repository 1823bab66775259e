package gardener_test

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/zonefold/zonefold/api/gardener/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/all"
	"github.com/zonefold/zonefold/internal/backend/route53/route53test"
	"github.com/zonefold/zonefold/internal/controller/gardener"
)

// wrong are credentials that the server of a site does not take.
func wrong(s *site) map[string]string {
	if s.kind == "powerdns" {
		return with(s.secret, "apiKey", "not-the-key")
	}
	return with(s.secret, "TSIGSecret", "d3Jvbmcgc2VjcmV0IG9mIHRoZSB0ZXN0")
}

func TestWrongCredentials(t *testing.T) {
	each(t, func(t *testing.T, start func(t *testing.T, names ...string) *site) {
		s := start(t, "example.org")
		w := newWorld(t)
		w.secret("creds", wrong(s))
		w.record("api", s.kind+" creds A api.example.org 192.0.2.1")
		w.unauthorised("api", "Create")
		if c := w.get("api").Status.Conditions; len(c) != 1 || c[0].Type != "Created" || c[0].Status != "False" {
			t.Errorf("the conditions are %+v", c)
		}
		w.secret("creds", s.secret) // nobody asks: the Secret is enough
		w.until("api", "Create Succeeded")
		w.holds(s, "A api.example.org", "120 192.0.2.1")

		w.stop() // at the deletion, in another run, they are wrong again
		w.secret("creds", wrong(s))
		w.start()
		w.delete("api")
		w.unauthorised("api", "Delete")
		w.holds(s, "A api.example.org", "120 192.0.2.1")
		w.secret("creds", s.secret)
		w.until("api", "gone")
		w.holds(s, "A api.example.org", "")
	})
}

// unauthorised waits for a record to have failed because of its credentials, which nothing shows.
func (w *world) unauthorised(name, operation string) {
	w.t.Helper()
	w.eventually(name, func() string {
		got := w.says(name)
		if got != operation+" Error [ERR_INFRA_UNAUTHENTICATED]" && got != operation+" Error [ERR_INFRA_UNAUTHORIZED]" {
			return fmt.Sprintf("it says %q", got)
		}
		return ""
	})
	if e := w.get(name).Status.LastError.Description; strings.Contains(e, "not-the-key") ||
		strings.Contains(e, "d3Jvbmcg") {
		w.t.Errorf("the error shows a secret: %s", e)
	}
}

// TestAnotherOnesCredentialsDoNotCount has a tenant name the zone of another one.
func TestAnotherOnesCredentialsDoNotCount(t *testing.T) {
	each(t, func(t *testing.T, start func(t *testing.T, names ...string) *site) {
		s := start(t, "example.org")
		w := newWorld(t)
		w.secret("creds", s.secret)
		w.secret("bad", wrong(s))
		w.record("mine", s.kind+" creds A mine.example.org 192.0.2.1")
		w.until("mine", "Create Succeeded")
		w.record("theirs", s.kind+" bad A mine.example.org 203.0.113.1", "zone: "+*w.get("mine").Status.Zone)
		w.unauthorised("theirs", "Create")
		w.holds(s, "A mine.example.org", "120 192.0.2.1")
		w.ask("mine", "reconcile")
		w.until("mine", "Reconcile Succeeded")
		w.holds(s, "A mine.example.org", "120 192.0.2.1")
	})
}

// TestWhoMayReadMayNotWriteWithTheKeyOfAnother has a tenant without a key ask for names of a zone that another one may
// write. Anybody may ask BIND which zone a name is in.
func TestWhoMayReadMayNotWriteWithTheKeyOfAnother(t *testing.T) {
	s := startBIND(t, "example.org")
	w := newWorld(t)
	w.secret("creds", s.secret)
	w.secret("none", map[string]string{"Server": s.secret["Server"]})
	for _, name := range []string{"hand", "mine"} {
		w.record(name, s.kind+" creds A "+name+".example.org 192.0.2.1")
		w.until(name, "Create Succeeded")
	}
	w.ask("hand", "migrate")
	w.until("hand", "Migrate Succeeded")
	for _, name := range []string{"hand", "mine", "other"} {
		w.record("theirs-"+name, s.kind+" none A "+name+".example.org 203.0.113.66")
		w.unauthorised("theirs-"+name, "Create")
	}
	for _, name := range []string{"hand", "mine"} {
		w.delete("theirs-" + name)
		w.until("theirs-"+name, "gone")
		w.holds(s, "A "+name+".example.org", "120 192.0.2.1")
	}
	w.holds(s, "A other.example.org", "")
	w.ask("mine", "reconcile")
	w.until("mine", "Reconcile Succeeded")
}

func TestRotatedCredentials(t *testing.T) {
	s := startPowerDNS(t, "example.org")
	w := newWorld(t)
	w.secret("creds", s.secret)
	w.record("api", "powerdns creds A api.example.org 192.0.2.1")
	w.until("api", "Create Succeeded")
	w.secret("creds", wrong(s))
	w.ask("api", "reconcile")
	w.unauthorised("api", "Reconcile")
	if c := w.get("api").Status.Conditions; c[0].Status != "True" {
		t.Errorf("the conditions are %+v", c)
	}
	w.secret("creds", s.secret)
	w.until("api", "Reconcile Succeeded")
}

func TestTheSecretIsGone(t *testing.T) {
	s := startPowerDNS(t, "example.org")
	w := newWorld(t)
	w.record("api", "powerdns creds A api.example.org 192.0.2.1")
	w.until("api", "Create Error [ERR_CONFIGURATION_PROBLEM]")
	if e := w.get("api").Status.LastError.Description; !strings.Contains(e, "there is no Secret "+w.ns+
		"/creds; create it") {
		t.Errorf("the error is %q", e)
	}
	w.secret("creds", s.secret)
	w.until("api", "Create Succeeded")
	w.noSecret("creds")
	w.delete("api") // the operator still has the account
	w.until("api", "gone")
	w.holds(s, "A api.example.org", "")

	w.secret("creds", s.secret)
	w.record("api", "powerdns creds A api.example.org 192.0.2.1")
	w.until("api", "Create Succeeded")
	w.stop()
	w.noSecret("creds")
	w.delete("api")
	w.start()
	w.until("api", "Delete Error [ERR_CONFIGURATION_PROBLEM]")
	w.complains("api", "there is no Secret "+w.ns+"/creds; create it. ") // the spec cannot be changed any more
	w.secret("creds", s.secret)
	w.until("api", "gone")
	w.holds(s, "A api.example.org", "")
}

// TestTheAccountThatHasPutASetRemovesIt has other credentials only read, and then be gone.
func TestTheAccountThatHasPutASetRemovesIt(t *testing.T) {
	s := startBIND(t, "example.org")
	w := newWorld(t)
	w.secret("creds", s.secret)
	w.record("api", "rfc2136 creds A api.example.org 192.0.2.1")
	w.until("api", "Create Succeeded")
	w.secret("creds", map[string]string{"Server": s.secret["Server"]})
	w.ask("api", "reconcile")
	w.unauthorised("api", "Reconcile")
	w.noSecret("creds")
	w.delete("api")
	w.until("api", "gone")
	w.holds(s, "A api.example.org", "")
}

// TestARemovalThatBeginsAnewNeedsNoSecret has a service be away when a set is to be removed, and the Secret be gone
// when somebody asks once more.
func TestARemovalThatBeginsAnewNeedsNoSecret(t *testing.T) {
	s := startPowerDNS(t, "example.org")
	w := newWorld(t)
	w.secret("creds", s.secret)
	w.record("api", "powerdns creds A api.example.org 192.0.2.1")
	w.until("api", "Create Succeeded")
	if err := s.Stop(); err != nil {
		t.Fatal(err)
	}
	w.delete("api")
	w.until("api", "Delete Error [ERR_RETRYABLE_INFRA_DEPENDENCIES]")
	w.noSecret("creds")
	w.ask("api", "reconcile")
	w.until("api", "Delete Error [ERR_RETRYABLE_INFRA_DEPENDENCIES]")
	if err := s.Start(w.ctx); err != nil {
		t.Fatal(err)
	}
	w.until("api", "gone")
	w.holds(s, "A api.example.org", "")
}

func (w *world) noSecret(name string) {
	w.t.Helper()
	s := &corev1.Secret{}
	s.Name, s.Namespace = name, w.ns
	if err := w.live.Delete(w.ctx, s); err != nil {
		w.t.Fatal(err)
	}
}

func TestWhatWasNeverThereGoesAtOnce(t *testing.T) {
	w := newWorld(t)
	w.record("api", "powerdns creds A api.example.org 192.0.2.1")
	w.until("api", "Create Error [ERR_CONFIGURATION_PROBLEM]")
	w.delete("api")
	w.until("api", "gone")
}

// TestWhatIsRemovedForDoubtIsNotToldOf has another operator begin with a set that never was at its service, as the
// status says: it tries to remove it, and says as much as of one that never was there, as Gardener does.
func TestWhatIsRemovedForDoubtIsNotToldOf(t *testing.T) {
	s := startPowerDNS(t, "example.org")
	w := newWorld(t)
	w.record("api", "powerdns creds A api.example.org 192.0.2.1")
	w.until("api", "Create Error [ERR_CONFIGURATION_PROBLEM]")
	w.patch("api", `{"metadata":{"finalizers":["example.com/hold",`+strconv.Quote(v1alpha1.Finalizer)+`]}}`)
	w.stop()
	before := w.get("api").Status.LastOperation
	w.delete("api")
	w.secret("creds", s.secret)
	w.start()
	w.eventually("the finalizer", func() string {
		if f := w.get("api").Finalizers; len(f) != 1 {
			return fmt.Sprintf("there are %q", f)
		}
		return ""
	})
	if now := w.get("api").Status.LastOperation; !reflect.DeepEqual(now, before) {
		t.Errorf("the last operation was %+v and is %+v", before, now)
	}
	w.patch("api", `{"metadata":{"finalizers":[]}}`)
	w.until("api", "gone")
}

func TestMissingZones(t *testing.T) {
	each(t, func(t *testing.T, start func(t *testing.T, names ...string) *site) {
		s := start(t, "example.org")
		if s.kind == "rfc2136" {
			// BIND says of a zone that it has not what it says of one that nobody may see; a Secret can say better
			s.secret["Zone"] = "example.org."
		}
		w := newWorld(t)
		w.secret("creds", s.secret)
		w.record("api", s.kind+" creds A api.example.net 192.0.2.1")
		w.until("api", "Create Error [ERR_CONFIGURATION_PROBLEM]")
		w.record("named", s.kind+" creds A api.example.org 192.0.2.1", "zone: example.net.")
		w.until("named", "Create Error [ERR_CONFIGURATION_PROBLEM]")
		w.record("outside", s.kind+" creds A api.example.com 192.0.2.1", "zone: example.org.")
		w.until("outside", "Create Error [ERR_CONFIGURATION_PROBLEM]")
		for _, name := range []string{"api", "named", "outside"} { // as if they had been there
			w.created(name)
			w.delete(name)
			w.until(name, "gone")
		}
		w.record("stale", s.kind+" creds A stale.example.org 192.0.2.1")
		w.until("stale", "Create Succeeded")
		w.status("stale", `{"zone":"gone.example.org."}`)
		w.stop()
		w.start()
		w.ask("stale", "reconcile")
		w.until("stale", "Reconcile Succeeded")
		if z := *w.get("stale").Status.Zone; strings.TrimSuffix(z, ".") != "example.org" {
			t.Errorf("the zone is %s", z)
		}
		w.status("stale", `{"zone":"gone.example.org."}`)
		w.delete("stale")
		w.until("stale", "gone")
	})
}

// created has a record say that its set was there once.
func (w *world) created(name string) {
	w.t.Helper()
	w.status(name,
		`{"conditions":[{"type":"Created","status":"True","reason":"Success","message":"","lastTransitionTime":"2026-01-01T00:00:00Z","lastUpdateTime":"2026-01-01T00:00:00Z"}]}`)
}

func TestWhatCannotBeIsSaid(t *testing.T) {
	s := startPowerDNS(t, "example.org")
	w := newWorld(t, func(c *gardener.Config) { c.Seed = false })
	w.secret("creds", s.secret)
	w.record("family", "powerdns creds A api.example.org 2001:db8::1")
	w.record("name", "powerdns creds A API.example.org 192.0.2.1")
	w.record("other", "powerdns creds A x.example.org 192.0.2.1")
	w.patch("other", `{"spec":{"secretRef":{"namespace":"kube-system"}}}`)
	w.ask("other", "reconcile")
	w.secret("spaces", with(s.secret, "apiKey", "s3cret\n"))
	w.record("spaces", "powerdns spaces A y.example.org 192.0.2.1")
	for name, words := range map[string]string{
		"family": `spec.values[0] is "2001:db8::1": it is not an address for an A record`,
		"name":   `spec.name is "API.example.org"`,
		"spaces": "the value of apiKey begins or ends with white space",
	} {
		w.until(name, "Create Error [ERR_CONFIGURATION_PROBLEM]")
		if e := w.get(name).Status.LastError.Description; !strings.Contains(e, words) || strings.Contains(e, "s3cret") {
			t.Errorf("%s: the error is %q, without %q", name, e, words)
		}
	}
	w.eventually("other", func() string {
		if e := w.get("other").Status.LastError; e == nil || !strings.Contains(e.Description,
			"which only objects in a seed may") {
			return fmt.Sprintf("the error is %+v", e)
		}
		return ""
	})
}

func TestThrottlingIsNoError(t *testing.T) {
	s := startPowerDNS(t, "example.org")
	w := newWorld(t)
	throttled := true
	w.mu.Lock()
	w.fail = func(string) error {
		if throttled {
			return &backend.Error{Class: backend.ErrThrottled, After: 1e9, Words: "Throttling: Rate exceeded"}
		}
		return nil
	}
	w.mu.Unlock()
	w.secret("creds", s.secret)
	w.record("api", "powerdns creds A api.example.org 192.0.2.1")
	w.eventually("api", func() string {
		l := w.get("api").Status.LastOperation
		if l == nil || l.State != v1alpha1.StateProcessing || !strings.Contains(l.Description, "Rate exceeded") {
			return fmt.Sprintf("the operation is %+v", l)
		}
		return ""
	})
	w.mu.Lock()
	throttled = false
	w.mu.Unlock()
	w.until("api", "Create Succeeded")
	w.holds(s, "A api.example.org", "120 192.0.2.1")
}

// TestAFullZone has a service refuse one set for a quota, which Gardener has a name of its own for.
func TestAFullZone(t *testing.T) {
	s, err := route53test.Start(t.Context(), route53test.Options{Now: time.Now, Sets: 3}) // SOA, NS and one more
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Stop() })
	account := s.NewAccount()
	user := account.NewUser("gardener")
	account.AddZone("example.org.", false)
	pool := all.NewPool(time.Now, nil)
	w := newWorld(t, func(c *gardener.Config) {
		c.Filter.Types = []string{"aws-route53"}
		c.Open = func(r gardener.Request) (backend.Account, error) {
			return pool.Open(all.ProviderConfig{Type: r.Type, Data: r.Data, Region: r.Region, Options: map[string]string{
				"endpoint": s.URL}})
		}
	})
	w.secret("creds", map[string]string{"accessKeyID": user.AccessKeyID, "secretAccessKey": user.SecretAccessKey})
	w.record("one", "aws-route53 creds A one.example.org 192.0.2.1")
	w.until("one", "Create Succeeded")
	w.record("two", "aws-route53 creds A two.example.org 192.0.2.2")
	w.until("two", "Create Error [ERR_INFRA_QUOTA_EXCEEDED]")
	w.delete("one")
	w.until("one", "gone")
	w.until("two", "Create Succeeded") // at once, for there is room
}

func TestAServerThatIsDown(t *testing.T) {
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
	w.delete("api")
	w.until("api", "Delete Error [ERR_RETRYABLE_INFRA_DEPENDENCIES]")
	if err := s.Start(w.ctx); err != nil {
		t.Fatal(err)
	}
	w.until("api", "gone")
	w.holds(s, "A api.example.org", "")
}

func TestMigration(t *testing.T) {
	s := startPowerDNS(t, "example.org")
	w := newWorld(t)
	w.secret("creds", s.secret)
	w.record("api", "powerdns creds A api.example.org 192.0.2.1")
	w.until("api", "Create Succeeded")
	before, _ := s.Updates(w.ctx)
	w.ask("api", "migrate")
	w.until("api", "Migrate Succeeded")
	if o := w.get("api"); len(o.Finalizers) > 0 {
		t.Errorf("it has the finalizers %v", o.Finalizers)
	}
	w.ask("api", "reconcile") // it is another one's
	w.record("beside", "powerdns creds A beside.example.org 192.0.2.9")
	w.until("beside", "Create Succeeded")
	w.holds(s, "A api.example.org", "120 192.0.2.1")
	if after, _ := s.Updates(w.ctx); after != before+1 {
		t.Errorf("the service was written to %d times besides", after-before-1)
	}
	w.ask("api", "wait-for-state")
	w.ask("api", "restore")
	w.until("api", "Restore Succeeded")
	if o := w.get("api"); !slices.Contains(o.Finalizers, v1alpha1.Finalizer) {
		t.Errorf("it has the finalizers %v", o.Finalizers)
	}
	w.took()
	w.record("last", "powerdns creds A last.example.org 192.0.2.9")
	w.until("last", "Create Succeeded")
	writes, _ := w.took()
	for _, write := range writes {
		if strings.Contains(write, "/api") && !strings.Contains(write, "/apis/") ||
			strings.HasSuffix(strings.TrimSuffix(write, "/status"), "dnsrecords/api") {
			t.Errorf("what was restored is written again: %s", write)
		}
	}
	w.delete("api")
	w.until("api", "gone")
	w.holds(s, "A api.example.org", "")
}

// shoot makes the namespace one of a shoot, whose Cluster is as given.
func (w *world) shoot(text string) {
	w.t.Helper()
	w.apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s, labels: {gardener.cloud/role: shoot}}", w.ns)
	w.apply("apiVersion: extensions.gardener.cloud/v1alpha1\nkind: Cluster\nmetadata: {name: %s}\nspec: {shoot: %s}", w.ns,
		text)
}

func TestShoots(t *testing.T) {
	s := startPowerDNS(t, "example.org")
	w := newWorld(t)
	w.stop()
	w.shoot("{status: {lastOperation: {state: Failed}}}")
	w.secret("creds", s.secret)
	w.record("api", "powerdns creds A api.example.org 192.0.2.1")
	w.record("probe", "powerdns creds A probe.example.org 192.0.2.1")
	w.start()
	w.shoot("{status: {lastOperation: {state: Succeeded}}}")
	w.record("later", "powerdns creds A later.example.org 192.0.2.1")
	w.until("later", "Create Succeeded")
	for _, name := range []string{"api", "probe"} { // they may have been looked at before, or after
		w.ask(name, "reconcile")
		w.eventually(name, func() string {
			if got := w.says(name); !strings.HasSuffix(got, " Succeeded") {
				return fmt.Sprintf("it says %q", got)
			}
			return ""
		})
	}
	w.shoot("{status: {lastOperation: {state: Failed}}}")
	w.ask("api", "reconcile") // it stays, and so does the annotation
	w.delete("probe")
	w.record("last", "powerdns creds A last.example.org 192.0.2.1")
	w.until("last", "New")
	w.shoot("{status: {lastOperation: {state: Succeeded}}}")
	if o := w.get("api"); o.Annotations[v1alpha1.OperationAnnotation] == "" || w.dig(s, "A probe.example.org") == "" {
		t.Errorf("something was done for a shoot that has failed: %v", o.Annotations)
	}
	w.ask("api", "reconcile")
	w.until("api", "Reconcile Succeeded")
	w.stop()
	w.secret("creds", wrong(s))
	w.delete("api")
	w.start()
	w.unauthorised("api", "Delete")
	w.shoot(`{metadata: {annotations: {confirmation.gardener.cloud/force-deletion: "true"}}}`)
	w.until("api", "gone")
	w.holds(s, "A api.example.org", "120 192.0.2.1")
}
