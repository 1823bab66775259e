package attack

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// An attempt is what somebody tries, as a row of SECURITY.md.
type attempt struct {
	who   string
	what  string // who …
	stops string // what stops it
	try   func(*site)
}

// The people of the table.
const (
	aTenant   = "A tenant"
	aServer   = "A hostile server"
	aStranger = "A stranger on the network"
	aThief    = "Whoever stole the operator's token"
)

func attempts() (all []attempt) {
	for _, group := range [][]attempt{onZones(), onFleets(), onServices(), fromServers(), fromTheNetwork(),
		withTheToken()} {
		all = append(all, group...)
	}
	return all
}

// patience is how long one attempt may take.
const patience = 30 * time.Second

// TestNobodyGetsWhatIsAnothers makes all attempts at one operator: after each of them the victim has what it had.
func TestNobodyGetsWhatIsAnothers(t *testing.T) {
	s := newSite(t)
	s.prosper()
	for _, a := range attempts() {
		t.Run(a.who+" "+a.what, func(t *testing.T) {
			sub := *s
			var cancel context.CancelFunc
			sub.ctx, cancel = context.WithTimeout(t.Context(), patience)
			defer cancel()
			sub.T = t
			a.try(&sub)
			sub.unharmed()
		})
	}
}

// TestSecurityTellsOfEachAttempt holds the table of SECURITY.md to the attempts.
func TestSecurityTellsOfEachAttempt(t *testing.T) {
	text, err := os.ReadFile("../../SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "\n## What was tried\n")
	told := regexp.MustCompile(`(?m)^\| .*\|$`).FindAllString(section, -1)
	told = told[min(1, len(told)):] // without the heading
	var made []string
	for _, a := range attempts() {
		made = append(made, fmt.Sprintf("| %s | %s | %s |", a.who, a.what, a.stops))
	}
	if got, want := strings.Join(told, "\n"), strings.Join(made, "\n"); got != want {
		t.Errorf("the table of SECURITY.md is\n%s\n\nand the attempts are\n\n%s", got, want)
	}
}

// theVictims are what the victim and its partner have.
const theVictims = `
apiVersion: zonefold.dev/v1alpha1
kind: Backend
metadata: {name: own}
spec: {default: true, embedded: {}}
---
apiVersion: kubi.zone/v1alpha1
kind: Zone
metadata: {namespace: victim, name: zone}
spec:
  domainName: example.org.
  delegations:
    - {namespace: victim, records: [{pattern: "@"}, {pattern: "*"}]}
    - {namespace: partner, records: [{pattern: "*.shared"}]}
    - {namespace: mallory, records: [{pattern: shared}, {pattern: "*.shared"}]}
---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {namespace: victim, name: servers}
spec: {domainName: example.org., type: NS, rdata: ns.example.net.}
---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {namespace: victim, name: www}
spec: {domainName: www.example.org., type: A, rdata: 192.0.2.80}
---
apiVersion: kubi.zone/v1alpha1
kind: Record
metadata: {namespace: partner, name: api}
spec: {domainName: api.shared.example.org., type: A, rdata: 192.0.2.81}
---
apiVersion: v1
kind: Secret
metadata: {namespace: victim, name: dns}
stringData: {server: "http://127.0.0.1:1", apiKey: only-the-victim-knows-this}
---
apiVersion: bindy.firestoned.io/v1beta1
kind: Bind9Cluster
metadata: {namespace: victim, name: fleet}
spec: {primaryReplicas: 1}
---
apiVersion: bindy.firestoned.io/v1beta1
kind: DNSZone
metadata: {namespace: victim, name: zone}
spec:
  zoneName: victim.example
  clusterRef: fleet
  bind9InstancesFrom: [{selector: {matchLabels: {zones: victims}}}]
  soaRecord: {primaryNs: ns1.victim.example., adminEmail: admin.victim.example., serial: 1, refresh: 3600, retry: 600, expire: 604800, negativeTtl: 300}
---
apiVersion: dns.homelab.mortenolsen.pro/v1alpha1
kind: DNSClass
metadata: {name: victims}
spec:
  server: http://127.0.0.1:1
  allowed: [{namespaces: [victim], names: ["*.victim.example."]}]`

// answers are what resolvers get of that.
func answers() map[string]string {
	return map[string]string{
		"example.org. NS": "ns.example.net.", "www.example.org. A": "192.0.2.80", "api.shared.example.org. A": "192.0.2.81",
		"pay.example.org. A": "",
	}
}

// prosper gives the victim what it has, and waits until that is answered.
func (s *site) prosper() {
	s.Helper()
	for _, o := range objects(theVictims) {
		s.store(o)
	}
	s.eventually("the victim's names are answered", s.harm)
	// Objects of one second are ordered by name.
	s.eventually("what comes is younger", func() string {
		o := objects("{apiVersion: kubi.zone/v1alpha1, kind: Zone}")[0]
		s.must(s.admin.Get(s.ctx, client.ObjectKey{Namespace: victim, Name: "zone"}, o))
		if now := time.Now().Truncate(time.Second); !now.After(o.GetCreationTimestamp().Time) {
			return "it is of the same second"
		}
		return ""
	})
}

// unharmed fails if resolvers get something else than before.
func (s *site) unharmed() {
	s.Helper()
	if harm := s.harm(); harm != "" {
		s.Errorf("the victim is harmed: %s", harm)
	}
}

func (s *site) harm() string {
	for question, want := range answers() {
		name, kind, _ := strings.Cut(question, " ")
		got, err := s.ask(name, dns.StringToType[kind])
		if err != nil {
			return fmt.Sprintf("%s: %v", question, err)
		}
		if got != want {
			return fmt.Sprintf("%s is answered %q, and was %q", question, got, want)
		}
	}
	return ""
}

// ask asks the operator's name server; the answer's data, in the order in which they come.
func (s *site) ask(name string, kind uint16) (string, error) {
	m := new(dns.Msg).SetQuestion(name, kind)
	answer, _, err := new(dns.Client).ExchangeContext(s.ctx, m, s.dns)
	if err != nil {
		return "", err
	}
	var data []string
	for _, record := range answer.Answer {
		data = append(data, strings.TrimPrefix(record.String(), record.Header().String()))
	}
	return strings.Join(data, " "), nil
}

// malloryPuts creates objects in mallory's name, and removes them after the attempt.
func (s *site) malloryPuts(text string) error {
	s.Helper()
	for _, o := range objects(text) {
		if o.GetNamespace() == "" {
			o.SetNamespace(mallory)
		}
		if err := s.mallory.Create(s.ctx, o); err != nil {
			return err
		}
		s.Cleanup(func() { s.remove(o) })
	}
	return nil
}

// remove deletes an object as the administrator, and waits until it is gone.
func (s *site) remove(o *unstructured.Unstructured) {
	s.Helper()
	after := *s
	var cancel context.CancelFunc
	after.ctx, cancel = context.WithTimeout(context.Background(), patience)
	defer cancel()
	s = &after
	if err := client.IgnoreNotFound(s.admin.Delete(s.ctx, o)); err != nil {
		s.Errorf("deleting %s %s: %v", o.GetKind(), o.GetName(), err)
		return
	}
	s.eventually(fmt.Sprintf("%s %s is gone", o.GetKind(), o.GetName()), func() string {
		err := s.admin.Get(s.ctx, client.ObjectKeyFromObject(o), o)
		if apierrors.IsNotFound(err) {
			return ""
		}
		return fmt.Sprintf("it is there (%v): %v", err, o.Object["status"])
	})
}

// told puts an object of mallory's and waits until a condition of it, of whatever type, is not True for a reason.
func (s *site) told(reason, text string) (message string) {
	s.Helper()
	s.must(s.malloryPuts(text))
	all := objects(text)
	o := all[len(all)-1]
	key := client.ObjectKey{Namespace: mallory, Name: o.GetName()}
	s.eventually(fmt.Sprintf("%s %s says %s", o.GetKind(), o.GetName(), reason), func() string {
		if err := s.mallory.Get(s.ctx, key, o); err != nil {
			return err.Error()
		}
		conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		for _, c := range conditions {
			if c, ok := c.(map[string]any); ok && c["reason"] == reason && c["status"] != "True" {
				message = fmt.Sprint(c["message"])
				return ""
			}
		}
		return fmt.Sprintf("it says %v", o.Object["status"])
	})
	return message
}

// denied fails unless the API server has refused something with these words.
func (s *site) denied(err error, words ...string) {
	s.Helper()
	if err == nil {
		s.Error("it was not refused")
		return
	}
	for _, w := range words {
		if !strings.Contains(err.Error(), w) {
			s.Errorf("it was refused with %q, and not for %q", err, w)
		}
	}
}

// forbidden fails unless RBAC has refused something.
func (s *site) forbidden(err error) {
	s.Helper()
	if !apierrors.IsForbidden(err) {
		s.Errorf("it is answered %v, and should be forbidden", err)
	}
}
