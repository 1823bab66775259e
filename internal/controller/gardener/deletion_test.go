package gardener_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zonefold/zonefold/internal/backend/extdns/extdnstest"
	"github.com/zonefold/zonefold/internal/controller/gardener"
)

// TestADeletionDoesNotNeedTheSettings has settings be spoilt, which nobody can correct any more when the object is
// being deleted, before another run of the operator removes the set.
func TestADeletionDoesNotNeedTheSettings(t *testing.T) {
	s := startPowerDNS(t, "example.org")
	for _, c := range []struct{ sentence, config string }{
		{"a setting that there is not is left out", `{"server":"http://elsewhere.example.net"}`},
		{"so is one that is an object", `{"zones":{"example.org":true}}`},
		{"and one of another type of service", `{"timeout":"soon"}`},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			w := newWorld(t)
			name := w.ns + ".example.org"
			w.secret("creds", s.secret)
			w.record("api", "powerdns creds A "+name+" 192.0.2.1")
			w.until("api", "Create Succeeded")
			w.stop()
			w.patch("api", `{"spec":{"providerConfig":`+c.config+`}}`)
			w.delete("api")
			w.start()
			w.until("api", "gone")
			w.holds(s, "A "+name, "")
		})
	}
}

// startWebhook starts a provider that does not say which zones it has, and a dialect for it.
func startWebhook(t *testing.T) (*world, *extdnstest.Server) {
	t.Helper()
	s := extdnstest.Start(t)
	w := newWorld(t, func(c *gardener.Config) { c.Filter.Types = []string{"external-dns-webhook"} })
	w.secret("creds", map[string]string{"url": s.URL + "/p"})
	w.record("api", "external-dns-webhook creds A api.example.org 192.0.2.1", "providerConfig: {zones: example.org}")
	w.until("api", "Create Succeeded")
	if n := s.Truth(t, parse(t, "example.org")).Len(); n != 1 {
		t.Fatalf("the provider has %d sets", n)
	}
	return w, s
}

func TestASettingThatMattersComesFromTheStatus(t *testing.T) {
	w, s := startWebhook(t)
	w.stop()
	w.patch("api", `{"spec":{"providerConfig":{"zones":["example.org"]}}}`)
	w.delete("api")
	w.start()
	w.until("api", "gone")
	if n := s.Truth(t, parse(t, "example.org")).Len(); n != 0 {
		t.Errorf("the provider still has %d sets", n)
	}
}

// TestASettingThatIsLostIsNoMissingZone has nobody know any more where a set is: that it is nowhere would be a guess.
func TestASettingThatIsLostIsNoMissingZone(t *testing.T) {
	w, s := startWebhook(t)
	w.stop()
	w.patch("api", `{"spec":{"providerConfig":{"zones":["example.org"]}}}`)
	w.status("api", `{"zone":null}`)
	w.delete("api")
	w.start()
	w.until("api", "Delete Error [ERR_CONFIGURATION_PROBLEM]")
	w.complains("api", "spec.providerConfig.zones is not a text, number, true or false")
	w.patch("api", `{"spec":{"providerConfig":{"zones":"example.org"}}}`)
	w.until("api", "gone")
	if n := s.Truth(t, parse(t, "example.org")).Len(); n != 0 {
		t.Errorf("the provider still has %d sets", n)
	}
}

// complains looks for words in what a record says of a deletion that fails, and for how it goes nevertheless.
func (w *world) complains(name, words string) {
	w.t.Helper()
	e := w.get(name).Status.LastError.Description
	for _, part := range []string{words,
		"annotate it, or its Shoot, with confirmation.gardener.cloud/force-deletion=true."} {
		if !strings.Contains(e, part) {
			w.t.Errorf("the error is %q, without %q", e, part)
		}
	}
}

// TestAnObjectGoesByForce has objects go for which nothing else can be done.
func TestAnObjectGoesByForce(t *testing.T) {
	s := startPowerDNS(t, "example.org")
	for _, c := range []struct {
		sentence string
		ignore   bool
		spoil    func(w *world)
		says     string // "": nothing
	}{
		{"a Secret is gone with the operator that knew it", false, func(w *world) { w.noSecret("creds") },
			"there is no Secret"},
		{"also where annotations have nothing done", true, func(w *world) { w.noSecret("creds") }, "there is no Secret"},
		{"nobody lets the operator read a Secret", false, func(w *world) { w.restrict() },
			"the operator may not read the Secret"},
		{"a Secret does not open anything", false, func(w *world) { w.secret("creds", nil) }, "the Secret has no value for"},
		{"the service does not know the credentials", false, func(w *world) { w.secret("creds", wrong(s)) }, "Unauthorized"},
		{"a Cluster is gone before the DNSRecords", false, func(w *world) { w.noCluster() }, ""},
		{"Gardener has given the Shoot up", true, func(w *world) {
			w.shoot("{status: {lastOperation: {state: Failed}}}")
		}, ""},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			w := newWorld(t, func(g *gardener.Config) { g.Trigger.IgnoreAnnotation = c.ignore })
			name := w.ns + ".example.org"
			w.secret("creds", s.secret)
			w.record("api", "powerdns creds A "+name+" 192.0.2.1")
			w.until("api", "Create Succeeded")
			w.stop()
			c.spoil(w)
			w.delete("api")
			w.start()
			if c.says != "" {
				w.eventually("api", func() string {
					if e := w.get("api").Status.LastError; e == nil {
						return "nothing has failed"
					}
					return ""
				})
				w.complains("api", c.says)
			}
			w.patch("api", `{"metadata":{"annotations":{"confirmation.gardener.cloud/force-deletion":"true"}}}`)
			w.until("api", "gone")
			if c.says == "" { // the service is there, and so are the credentials
				w.holds(s, "A "+name, "")
				return
			}
			w.holds(s, "A "+name, "120 192.0.2.1")
			w.leavesBehind(name)
		})
	}
}

// noCluster makes the namespace one of a shoot that has no Cluster.
func (w *world) noCluster() {
	w.t.Helper()
	w.apply("apiVersion: v1\nkind: Namespace\nmetadata: {name: %s, labels: {gardener.cloud/role: shoot}}", w.ns)
}

// leavesBehind waits for the event of what may be left.
func (w *world) leavesBehind(name string) {
	w.t.Helper()
	w.eventually("the event", func() string {
		var last string
		for len(w.events.Events) > 0 {
			if last = <-w.events.Events; strings.Contains(last, "LeftBehind") && strings.Contains(last, name) {
				if strings.HasSuffix(last, "..") {
					w.t.Errorf("the event is no sentence: %q", last)
				}
				return ""
			}
		}
		return fmt.Sprintf("the last one is %q", last)
	})
}
