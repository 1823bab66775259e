package gardener

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"github.com/zonefold/zonefold/api/gardener/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/engine"
	"github.com/zonefold/zonefold/internal/controller/objects"
	dialect "github.com/zonefold/zonefold/internal/dialect/gardener"
)

// spec makes a valid one of "A api.example.com 192.0.2.1".
func spec(text string, change ...func(*v1alpha1.DNSRecordSpec)) *v1alpha1.DNSRecordSpec {
	f := strings.Fields(text)
	s := &v1alpha1.DNSRecordSpec{Type: "powerdns", SecretRef: v1alpha1.SecretReference{Name: "s"}, RecordType: f[0],
		Name: f[1], Values: f[2:]}
	for _, c := range change {
		c(s)
	}
	return s
}

func TestFaults(t *testing.T) {
	const good = "A api.example.com 192.0.2.1"
	for _, c := range []struct {
		sentence string
		spec     *v1alpha1.DNSRecordSpec
		want     string // part of what is said; "": nothing
	}{
		{"an A record", spec(good), ""},
		{"a name with a final dot", spec("A api.example.com. 192.0.2.1"), ""},
		{"a wildcard", spec("CNAME *.example.com a.example.com"), ""},
		{"a TXT record with an underscore", spec("TXT _acme.example.com text"), ""},
		{"an address of the other family is Gardener's to let in", spec("A api.example.com 2001:db8::1"), ""},
		{"a TTL of nothing", spec(good, func(s *v1alpha1.DNSRecordSpec) { s.TTL = ptr.To[int64](0) }), ""},
		{"no type", spec(good, func(s *v1alpha1.DNSRecordSpec) { s.Type = "" }), "spec.type is empty"},
		{"no Secret", spec(good, func(s *v1alpha1.DNSRecordSpec) { s.SecretRef.Name = "" }), "spec.secretRef.name is empty"},
		{"an empty region", spec(good, func(s *v1alpha1.DNSRecordSpec) { s.Region = ptr.To("") }), "spec.region is empty"},
		{"an empty zone", spec(good, func(s *v1alpha1.DNSRecordSpec) { s.Zone = ptr.To("") }), "spec.zone is empty"},
		{"no name", spec(good, func(s *v1alpha1.DNSRecordSpec) { s.Name = "" }), `spec.name is "": it is empty`},
		{"one label", spec("A example 192.0.2.1"), "at least two labels"},
		{"capitals", spec("A Api.example.com 192.0.2.1"), "lower case"},
		{"a wildcard inside", spec("A a.*.example.com 192.0.2.1"), "spec.name"},
		{"a TXT wildcard", spec("TXT *.example.com x"), "spec.name"},
		{"an underscore inside", spec("TXT x._domainkey.example.com x"), "spec.name"},
		{"an underscore of an A record", spec("A _x.example.com 192.0.2.1"), "spec.name"},
		{"a label that is too long", spec("A " + strings.Repeat("a", 64) + ".example.com 192.0.2.1"), "spec.name"},
		{"an MX record", spec("MX example.com mail.example.com"),
			`spec.recordType is "MX"; it is one of A, AAAA, CNAME, TXT`},
		{"no values", spec("A api.example.com"), "spec.values is empty"},
		{"two names", spec("CNAME api.example.com a.example.com b.example.com"), "a CNAME has one"},
		{"no address", spec("AAAA api.example.com example.com"), "spec.values[0]"},
		{"an address with a zone", spec("AAAA api.example.com fe80::1%eth0"), "spec.values[0]"},
		{"a name that is none", spec("CNAME api.example.com a_b"), "spec.values[0]"},
		{"a TTL below nothing", spec(good, func(s *v1alpha1.DNSRecordSpec) { s.TTL = ptr.To[int64](-1) }), "spec.ttl is -1"},
		{"a TTL that is too long", spec(good, func(s *v1alpha1.DNSRecordSpec) { s.TTL = ptr.To[int64](1 << 31) }),
			"spec.ttl"},
	} {
		faults := strings.Join(dialect.Faults(c.spec), " ")
		if c.want == "" && faults != "" || !strings.Contains(faults, c.want) {
			t.Errorf("%s: it is said %q, want %q", c.sentence, faults, c.want)
		}
	}
}

func TestWhatMayNotBeChanged(t *testing.T) {
	old := object(func(o *v1alpha1.DNSRecord) { o.Spec = *spec("A api.example.com 192.0.2.1") })
	for _, c := range []struct {
		sentence string
		change   func(*v1alpha1.DNSRecord)
		want     string
	}{
		{"values may", func(o *v1alpha1.DNSRecord) { o.Spec.Values = []string{"192.0.2.2"} }, ""},
		{"the zone may", func(o *v1alpha1.DNSRecord) { o.Spec.Zone = ptr.To("Z") }, ""},
		{"the Secret may", func(o *v1alpha1.DNSRecord) { o.Spec.SecretRef.Name = "t" }, ""},
		{"the type may not", func(o *v1alpha1.DNSRecord) { o.Spec.Type = "rfc2136" }, "spec.type may not be changed"},
		{"the name may not", func(o *v1alpha1.DNSRecord) { o.Spec.Name = "b.example.com" }, "spec.name may not be changed"},
		{"the type of the records may not", func(o *v1alpha1.DNSRecord) { o.Spec.RecordType = "TXT" },
			"spec.recordType may not be changed"},
		{"nothing may of what is being deleted", func(o *v1alpha1.DNSRecord) {
			deleted(o)
			o.Spec.Values = []string{"192.0.2.2"}
		}, "it is being deleted|the object is being deleted"},
		{"what is being deleted may stay as it is", deleted, ""},
	} {
		now := old.DeepCopy()
		c.change(now)
		said := strings.Join(dialect.UpdateFaults(old, now), " ")
		if c.want == "" && said != "" || c.want != "" && !slices.ContainsFunc(strings.Split(c.want, "|"),
			func(w string) bool { return strings.Contains(said, w) }) {
			t.Errorf("%s: it is said %q, want %q", c.sentence, said, c.want)
		}
	}
}

func TestConvert(t *testing.T) {
	for _, c := range []struct{ spec, want string }{
		{"A api.example.com 192.0.2.2 192.0.2.1 192.0.2.2", "api.example.com. A 120 [192.0.2.1 192.0.2.2]"},
		{"AAAA *.example.com. 2001:DB8:0::1", "*.example.com. AAAA 120 [2001:db8::1]"},
		{"CNAME www.example.com a.example.net", "www.example.com. CNAME 120 [a.example.net.]"},
		{`TXT t.example.com v=spf1;"x"`, `t.example.com. TXT 120 ["v=spf1;\"x\""]`},
		{`TXT t.example.com "v=spf1~-all"`, `t.example.com. TXT 120 ["v=spf1 -all"]`},
		{`TXT t.example.com "a~b"~~"c\"\100\233"`, `t.example.com. TXT 120 ["a b" "c\"d\233"]`},
		{`TXT t.example.com "` + strings.Repeat("x", 300) + `"`,
			`t.example.com. TXT 120 ["` + strings.Repeat("x", 255) + `" "` + strings.Repeat("x", 45) + `"]`},
		{`TXT t.example.com ""`, `t.example.com. TXT 120 [""]`},
		{`TXT t.example.com "é"`, `t.example.com. TXT 120 ["\195\169"]`},
		{`TXT t.example.com "a"~b~"c"`, `t.example.com. TXT 120 ["\"a\" b \"c\""]`},
		{`TXT t.example.com "a""b"`, `t.example.com. TXT 120 ["\"a\"\"b\""]`},
		{`TXT t.example.com "a\"`, `t.example.com. TXT 120 ["\"a\\\""]`},
		{`TXT t.example.com "\999"`, `t.example.com. TXT 120 ["\"\\999\""]`},
		{`TXT t.example.com "`, `t.example.com. TXT 120 ["\""]`},
		{`TXT t.example.com ~"a"`, `t.example.com. TXT 120 [" \"a\""]`},
	} {
		s := spec(c.spec)
		for i, v := range s.Values {
			s.Values[i] = strings.ReplaceAll(v, "~", " ") // which parts the values of the table
		}
		set, err := dialect.Convert(s)
		if got := fmt.Sprintf("%s %s %d %v", set.Name, set.Type, set.TTL, set.Data); err != nil || got != c.want {
			t.Errorf("%s is %s, %v; want %s", c.spec, got, err, c.want)
		}
	}
	for _, bad := range []string{"A api.example.com 2001:db8::1", "A api.example.com ::ffff:192.0.2.1",
		"AAAA api.example.com 192.0.2.1", "A example 192.0.2.1"} {
		if _, err := dialect.Convert(spec(bad)); !slices.Equal(codesOf(err),
			[]v1alpha1.ErrorCode{v1alpha1.ErrorConfigurationProblem}) {
			t.Errorf("%s: the error is %v, with the codes %v", bad, err, codesOf(err))
		}
	}
}

func TestOptions(t *testing.T) {
	s := spec("A a.example.com 192.0.2.1")
	s.ProviderConfig = &runtime.RawExtension{
		Raw: []byte(`{"apiVersion":"x/v1","kind":"Config","proxied":true,"timeout":1000000,"zones":"n"}`)}
	got, err := dialect.Settings(s)
	if want := "map[proxied:true timeout:1000000 zones:n]"; err != nil || fmt.Sprint(got) != want {
		t.Errorf("the options are %v, %v; want %s", got, err, want)
	}
	for bad, says := range map[string]string{
		`[]`: "spec.providerConfig is not an object;", `5`: "spec.providerConfig is not an object;",
		`{"proxied":{"a":"b"}}`: "spec.providerConfig.proxied is not a text, number, true or false;",
		`{"zones":null}`:        "spec.providerConfig.zones is not a text, number, true or false;",
		// and what would send the credentials of a Secret to somebody else:
		`{"endpoint":"https://example.com"}`:      "spec.providerConfig.endpoint",
		`{"tokenEndpoint":"https://example.com"}`: "spec.providerConfig.tokenEndpoint",
		`{"url":"https://example.com"}`:           "spec.providerConfig.url",
		`{"caBundle":"x"}`:                        "spec.providerConfig.caBundle",
		`{"Endpoint":"https://example.com"}`:      "spec.providerConfig.Endpoint",
	} {
		s.ProviderConfig.Raw = []byte(bad)
		if got, err := dialect.Settings(s); !errors.Is(err, backend.ErrRejected) || !strings.HasPrefix(err.Error(), says) {
			t.Errorf("the configuration %s is %v, %v; want an error that says %q", bad, got, err, says)
		}
	}
}

func TestCodes(t *testing.T) {
	for _, c := range []struct {
		sentence string
		err      error
		want     string
		passing  bool
	}{
		{"credentials that nobody knows", &backend.Error{Class: backend.ErrNotAuthorised,
			Cause: backend.CauseUnauthenticated}, "[ERR_INFRA_UNAUTHENTICATED]", false},
		{"credentials that do not suffice", &backend.Error{Class: backend.ErrNotAuthorised, Cause: backend.CauseUnauthorised},
			"[ERR_INFRA_UNAUTHORIZED]", false},
		{"credentials that are wrong in some way", fmt.Errorf("sending: %w", backend.ErrNotAuthorised),
			"[ERR_INFRA_UNAUTHORIZED]", false},
		{"a Secret that cannot be read", &backend.Error{Class: backend.ErrNotAuthorised, Cause: backend.CauseInvalid},
			"[ERR_CONFIGURATION_PROBLEM]", false},
		{"a quota", &backend.Error{Class: backend.ErrRejected, Cause: backend.CauseQuota}, "[ERR_INFRA_QUOTA_EXCEEDED]",
			false},
		{"a quota that sounds like throttling", &backend.Error{Class: backend.ErrThrottled, Cause: backend.CauseQuota},
			"[ERR_INFRA_QUOTA_EXCEEDED]", false},
		{"throttling", fmt.Errorf("sending: %w", &backend.Error{Class: backend.ErrThrottled, After: time.Second}), "[]",
			true},
		{"another writer", backend.ErrConflict, "[]", true},
		{"no zone", dialect.Zoneless("none"), "[ERR_CONFIGURATION_PROBLEM]", false},
		{"a refusal", backend.ErrRejected, "[ERR_CONFIGURATION_PROBLEM]", false},
		{"a refusal that may pass", &backend.Error{Class: backend.ErrRejected, Temporary: true},
			"[ERR_RETRYABLE_INFRA_DEPENDENCIES]", false},
		{"no answer", errors.New("EOF"), "[ERR_RETRYABLE_INFRA_DEPENDENCIES]", false},
	} {
		if got := fmt.Sprint(codesOf(c.err)); got != c.want || passing(c.err) != c.passing {
			t.Errorf("%s: the codes are %s (passing: %t), want %s", c.sentence, got, passing(c.err), c.want)
		}
	}
}

func TestWhatARefusalSays(t *testing.T) {
	const cname, others = "A CNAME may be at www.example.com.", "Other records may be at www.example.com."
	for _, c := range []struct {
		sentence, kind string
		step           Step
		why            engine.Refusal
		hint           string
	}{
		{"no reason", "A", Put, engine.Refusal{}, cname},
		{"a set that is not valid", "TXT", Put, engine.Refusal{Cause: backend.CauseInvalid}, cname},
		{"an alias", "CNAME", Put, engine.Refusal{}, others},
		{"more addresses than there may be", "A", Put, engine.Refusal{Cause: backend.CauseUnsupported}, ""},
		{"a quota", "A", Put, engine.Refusal{Cause: backend.CauseQuota}, ""},
		{"a removal", "A", Remove, engine.Refusal{}, ""},
	} {
		key, err := dialect.KeyOf(spec(c.kind + " www.example.com"))
		if err != nil {
			t.Fatal(err)
		}
		c.why.Reason = "It says no."
		said := (&run{step: c.step}).rejected(key, c.why).Error()
		want := strings.TrimSpace("It says no. " + c.hint)
		if !strings.HasPrefix(said, want) || c.hint == "" && said != want {
			t.Errorf("%s: it says %q, want %q", c.sentence, said, want)
		}
	}
}

func TestStatuses(t *testing.T) {
	now := time.Unix(1e9, 5)
	o := object(generation(3))
	put := &run{step: Put, kind: v1alpha1.TypeCreate, object: o, finding: finding{zone: backend.HostedZone{ID: "Z"}}}
	first := failed(processing(o.Status, v1alpha1.TypeCreate, now), put, errors.New("no answer"), now)
	if e, l := first.LastError, first.LastOperation; e.Description != "Error reconciling DNSRecord: no answer" ||
		l.Progress != 50 || l.State != v1alpha1.StateError || first.ObservedGeneration != 3 {
		t.Errorf("after a failure it is %+v %+v", e, l)
	}
	again := failed(first, put, errors.New("no answer"), now.Add(time.Hour))
	if patch, err := objects.Differences(first, again); len(patch) > 0 || err != nil {
		t.Errorf("the same failure once more writes %v, %v", patch, err)
	}
	from := func(port int) error {
		return &backend.Error{Class: backend.ErrUnavailable, Err: &net.OpError{Op: "read", Net: "tcp",
			Source: &net.TCPAddr{Port: port}, Addr: &net.TCPAddr{Port: 53}, Err: errors.New("connection reset by peer")}}
	}
	reset := failed(first, put, from(40912), now)
	again = failed(reset, put, from(40913), now.Add(time.Hour))
	if patch, err := objects.Differences(reset, again); len(patch) > 0 || err != nil {
		t.Errorf("the same failure of another connection writes %v, %v", patch, err)
	}
	throttled := waiting(first, put, &backend.Error{Class: backend.ErrThrottled}, now)
	if throttled.LastError != nil || throttled.LastOperation.State != v1alpha1.StateProcessing {
		t.Errorf("while it is throttled after a failure it is %+v %+v", throttled.LastError, throttled.LastOperation)
	}
	fine := succeeded(first, put, now)
	if l := fine.LastOperation; fine.LastError != nil || l.Progress != 100 || l.Description != "Successfully "+
		"reconciled DNSRecord" || *fine.Zone != "Z" || fine.Conditions[0].Status != "True" {
		t.Errorf("after success it is %+v", fine)
	}
	bad := failed(fine, put, errors.New("no answer"), now)
	if bad.Conditions[0].Status != "True" {
		t.Error("what was created once is not any more after a failure")
	}
	if next := processing(bad, v1alpha1.TypeReconcile, now); next.LastError != nil || next.LastOperation.Progress != 1 ||
		next.ObservedGeneration != 3 {
		t.Errorf("while the next operation is under way it is %+v", next)
	}
	patch, err := objects.Differences(bad, processing(bad, v1alpha1.TypeReconcile, now))
	if err != nil || patch["lastError"] != nil || len(patch) != 2 {
		t.Errorf("that is written as %v, %v", patch, err)
	}
}

// TestAReportThatComesLateIsOfWhatWasClosed has one come when a hosted zone is open again.
func TestAReportThatComesLateIsOfWhatWasClosed(t *testing.T) {
	k := New(Config{Clock: time.Now})
	t.Cleanup(k.writer.ShutDown)
	p := &hostedZone{id: "zone", number: 2}
	s, unlock := k.state.Lock()
	s.hostedZones[p.id] = p
	unlock()
	for version, want := range []int{0, 0, 1} {
		k.hear(engine.Report{Feed: p.id, Version: uint64(version), Seq: 9})
		if p.generation != want {
			t.Errorf("after a report for number %d, %d are heard, want %d", version, p.generation, want)
		}
	}
}
