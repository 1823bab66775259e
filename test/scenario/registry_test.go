package scenario

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zonefold/zonefold/internal/backend/dynamodb/dynamodbtest"
	"github.com/zonefold/zonefold/internal/backend/route53/route53test"
	"github.com/zonefold/zonefold/internal/rr"
)

// note is what external-dns writes beside a set that it owns.
func note(name, owner string) string {
	return name + ` 300 TXT "heritage=external-dns,external-dns/owner=` + owner + `,external-dns/resource=ingress/web/www"`
}

// TestZonesSharedWithExternalDNS goes from external-dns to zonefold and back, with what external-dns leaves in a zone.
// Its own code does that in test/acceptance/externaldns.
func TestZonesSharedWithExternalDNS(t *testing.T) {
	s := newStage(t)
	s.start()
	s.run("sets of an external-dns are left to it, taken over on request, and given back", func(s *scene) {
		s.bind = s.bindWith("example.org.", "www.example.org. 300 A 192.0.2.1", note("a-www.example.org.", "prod"),
			"rest.example.org. 300 A 192.0.2.3", note("a-rest.example.org.", "prod"),
			"other.example.org. 300 A 203.0.113.1", note("a-other.example.org.", "staging"))
		seen := s.watchAnswers("www.example.org. A")
		s.backend("b", "registries: [{}]", s.bind)
		s.apply(www("b"))
		s.apply(`
		record a/other: {domainName: other.example.org., type: A, rdata: 192.0.2.2}
		record a/new: {domainName: new.example.org., type: A, rdata: 192.0.2.4}
		`)
		s.ready("zone a/org", "record a/new")
		s.cond("record a/www", "Served", "False Owned", `owner "prod" of external-dns`, "TXT a-www.example.org.",
			"spec.registries")
		s.cond("record a/other", "Served", "False Owned", `owner "staging" of external-dns`)

		s.backend("b", "registries: [{owner: prod}]", s.bind)
		s.ready("record a/www", "record a/new")
		s.answers("a-www.example.org. TXT")
		s.cond("record a/other", "Served", "False Owned", `owner "staging" of external-dns`)
		s.eventually("status.backends", func() string {
			if b := s.zone("a/org").Status.Backends; len(b) != 1 || b[0].Message !=
				"1 set of the adopted external-dns is in no object, and stays." {
				return fmt.Sprint(b)
			}
			return ""
		})
		s.answers("rest.example.org. A", "192.0.2.3")
		if wrong := seen(); wrong != "" {
			s.t.Errorf("while it was taken over, the answer was once %s", wrong)
		}

		s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.9}`)
		s.answers("www.example.org. A", "192.0.2.9")
		s.backend("b", "registries: [{owner: prod, write: true}]", s.bind)
		for _, name := range []string{"a-www", "a-new"} {
			s.answers(name+".example.org. TXT", `"heritage=external-dns,external-dns/owner=prod"`)
		}
		s.backend("b", "mode: Observe, registries: [{owner: prod, write: true}]", s.bind)
		s.cond("zone a/org", "Served", "False Observing", "it would add 0 sets, change 0 and delete 0")
		s.remove("zone a/org", "record a/www", "record a/new", "record a/other")
		s.gone("zone a/org")
		s.answers("www.example.org. A", "192.0.2.9")
		s.answers("a-www.example.org. TXT", `"heritage=external-dns,external-dns/owner=prod"`)
		s.answers("other.example.org. A", "203.0.113.1")
	})
	s.run("the registry is a table of DynamoDB", sharedByTable)
	s.run("sets are left to external-dns while a service does not list its zones", keptUnlisted)
	s.run("a Backend is told which registries it cannot have", func(s *scene) {
		s.bind = s.startBIND("example.org.")
		for more, words := range map[string]string{
			"registries: [{}], foreign: Delete":                              "registries need foreign: Keep",
			"registries: [{prefix: a, suffix: b}]":                           "either a prefix or a suffix",
			"registries: [{write: true}]":                                    "a registry is written as an owner",
			"registries: [{owner: a, write: true}, {owner: b, write: true}]": "at most one of the registries is written",
			"registries: [{dynamoDB: {}}, {dynamoDB: {table: abc}}]":         "at most one of the registries is in DynamoDB",
			"registries: [{dynamoDB: {}, prefix: a}]":                        "those of a TXT registry",
			"registries: [{dynamoDB: {table: 'a b'}}]":                       "table",
		} {
			s.notTaken(more, words)
		}
		s.backend("b", "registries: [{encryptionKeyRef: {name: ~nothing}}]", s.bind)
		s.cond("backend b", "Ready", "False SecretNotFound", "nothing")
		s.backend("b", "registries: [{dynamoDB: {secretRef: {name: ~nothing}}}]", s.bind)
		s.cond("backend b", "Ready", "False SecretNotFound", "nothing")
		s.credentials("aws", "AWS_ACCESS_KEY_ID", "id")
		s.backend("b", "registries: [{dynamoDB: {secretRef: {name: ~aws}}}]", s.bind)
		s.cond("backend b", "Ready", "False InvalidSpec", "credentials for DynamoDB", "AWS_SECRET_ACCESS_KEY")
	})
}

// keptUnlisted gives a Backend other credentials, for which its service lists no zones at first: those that are known
// already are still shared.
func keptUnlisted(s *scene) {
	server, account, _ := s.route53()
	id, ttl := account.AddZone(s.text("example.org"), false), int64(300)
	server.Put(id, route53test.Set{Name: s.text("www.example.org"), Type: "A", TTL: &ttl,
		Records: []string{"192.0.2.99"}})
	server.Put(id, route53test.Set{Name: s.text("a-www.example.org"), Type: "TXT", TTL: &ttl,
		Records: []string{`"heritage=external-dns,external-dns/owner=prod"`}})
	s.apply(fmt.Sprintf("backend b: {provider: {type: aws-route53, secretRef: {name: ~aws}, config: {endpoint: %q}}, "+
		"registries: [{}]}", server.URL))
	s.apply(www("b"))
	s.cond("record a/www", "Served", "False Owned")

	server.Inject(func(operation string) *route53test.Error {
		if operation == "ListHostedZones" {
			return &route53test.Error{Status: 503, Code: "ServiceUnavailable", Message: "later"}
		}
		return nil
	})
	other := account.NewUser("other")
	s.credentials("aws", "accessKeyID", other.AccessKeyID, "secretAccessKey", other.SecretAccessKey)
	s.cond("backend b", "Ready", "False Unavailable")
	s.apply(`record a/new: {domainName: new.example.org., type: A, rdata: 192.0.2.4}`)
	s.at(server, id, "new.example.org.", "A", "192.0.2.4")
	s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.2}`)
	s.cond("record a/www", "Served", "False Owned")
	s.at(server, id, "www.example.org.", "A", "192.0.2.99")
}

// sharedByTable goes from external-dns to zonefold and back, with items of a table in the place of notes.
func sharedByTable(s *scene) {
	s.bind = s.bindWith("example.org.", "www.example.org. 300 A 192.0.2.1", "other.example.org. 300 A 203.0.113.1")
	server, err := dynamodbtest.Start(s.ctx, "external-dns", time.Now)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = server.Stop() })
	server.Own(s.text("www.example.org#A#"), "prod")
	server.Own(s.text("other.example.org#A#"), "staging")
	owns := func(want ...string) {
		s.t.Helper()
		s.eventually("the items of the table", func() string {
			var got []string
			for key, owner := range server.Owners() {
				got = append(got, key+" "+owner)
			}
			slices.Sort(got)
			if text := s.text(strings.Join(want, ", ")); strings.Join(got, ", ") != text {
				return fmt.Sprintf("they are %q, not %q", got, text)
			}
			return ""
		})
	}
	s.credentials("aws", "AWS_ACCESS_KEY_ID", dynamodbtest.AccessKeyID, "AWS_SECRET_ACCESS_KEY",
		dynamodbtest.SecretAccessKey)
	backend := func(more string) {
		s.backend("b", fmt.Sprintf("registries: [{dynamoDB: {region: eu-west-1, endpoint: %q, secretRef: {name: ~aws}}%s}]",
			server.URL, more), s.bind)
	}
	server.Inject(func(string) *dynamodbtest.Error {
		return &dynamodbtest.Error{Status: 400, Code: "AccessDeniedException",
			Message: "not authorized to perform: dynamodb:Scan"}
	})
	seen := s.watchAnswers("www.example.org. A")
	backend("")
	s.apply(www("b"))
	s.apply(`
	record a/other: {domainName: other.example.org., type: A, rdata: 192.0.2.2}
	record a/new: {domainName: new.example.org., type: A, rdata: 192.0.2.4}
	`)
	s.cond("zone a/org", "Served", "False NotAuthorised", "which is needed to write", "allow the credentials "+
		"dynamodb:Scan on the table")
	s.answers("new.example.org. A")
	server.Inject(nil)
	backend(", owner: nobody") // has it tried again at once
	s.ready("zone a/org", "record a/new")
	s.cond("record a/www", "Served", "False Owned", `owner "prod" of external-dns`, "the table external-dns in DynamoDB")
	s.cond("record a/other", "Served", "False Owned", `owner "staging" of external-dns`)
	owns("other.example.org#A# staging", "www.example.org#A# prod")

	backend(", owner: prod")
	s.ready("record a/www", "record a/new")
	s.cond("record a/other", "Served", "False Owned", `owner "staging" of external-dns`)
	owns("other.example.org#A# staging")
	if wrong := seen(); wrong != "" {
		s.t.Errorf("while it was taken over, the answer was once %s", wrong)
	}
	backend(", owner: prod, write: true")
	owns("new.example.org#A# prod", "other.example.org#A# staging", "www.example.org#A# prod")
	s.apply(`record a/www: {domainName: www.example.org., type: A, rdata: 192.0.2.9}`)
	s.answers("www.example.org. A", "192.0.2.9")
	s.remove("record a/new")
	owns("other.example.org#A# staging", "www.example.org#A# prod")
	s.answers("other.example.org. A", "203.0.113.1")
}

// notTaken fails if the schema takes a Backend, or says something else of it.
func (s *scene) notTaken(more, words string) {
	s.t.Helper()
	o := s.objects(fmt.Sprintf("backend bad: {rfc2136: {servers: [%q]}%s}", s.bind.Addr(), comma(more)))[0]
	if err := s.put(o); err == nil || !strings.Contains(err.Error(), words) {
		s.t.Errorf("a Backend with %s: %v; want %q", more, err, words)
	}
}

// watchAnswers asks a question all the time. The function that it returns ends that, and returns an answer that was not
// the first one, "" if there was none.
func (s *scene) watchAnswers(question string) (seen func() string) {
	s.t.Helper()
	k := s.question(question)
	first, err := s.ask(s.bind, k)
	if err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(s.ctx)
	s.t.Cleanup(cancel)
	var asking sync.WaitGroup
	wrong := ""
	asking.Go(func() { wrong = otherAnswer(ctx, s, k, first) })
	return func() string {
		cancel()
		asking.Wait()
		return wrong
	}
}

func otherAnswer(ctx context.Context, s *scene, k rr.Key, first []string) string {
	for ctx.Err() == nil {
		if got, err := s.ask(s.bind, k); err == nil && fmt.Sprint(got) != fmt.Sprint(first) {
			return fmt.Sprint(got)
		}
	}
	return ""
}
