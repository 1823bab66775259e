package route53

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"golang.org/x/time/rate"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/route53/route53test"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// A rig is a server with one account, one user and one zone.
type rig struct {
	*testing.T
	server  *route53test.Server
	account *route53test.Account
	user    *route53test.User
	id      string
	zone    *Zone
}

func newRig(t *testing.T, o route53test.Options) *rig {
	s := serve(t, o)
	r := &rig{T: t, server: s, account: s.NewAccount()}
	r.user, r.id = r.account.NewUser("zonefold"), r.account.AddZone("example.org", false)
	r.zone = hosted(t, client(t, access(s, r.user)), r.id)
	return r
}

func (r *rig) set(name string, t rr.Type, data ...string) rr.Set {
	r.Helper()
	for i, d := range data {
		canonical, err := rr.ParseData(t, d)
		if err != nil {
			r.Fatal(err)
		}
		data[i] = canonical
	}
	if name != "" {
		name += "."
	}
	return rr.NewSet(rr.Key{Name: parse(r, name+"example.org."), Type: t}, 300, data...)
}

func (r *rig) apply(changes ...plan.Change) (backend.Result, error) {
	return r.zone.Apply(r.Context(), r.zone.name, backend.Batch{Changes: changes, Last: true})
}

func put(set rr.Set) plan.Change  { return plan.Change{Key: set.Key(), Want: set} }
func drop(set rr.Set) plan.Change { return plan.Change{Key: set.Key(), Have: set} }

// stored are the values that the server has of a set, as it has them.
func (r *rig) stored(name, kind string) []string {
	sets, _ := r.server.Sets(r.id)
	for _, s := range sets {
		if s.Name == name && s.Type == kind {
			return s.Records
		}
	}
	return nil
}

func wants(t *testing.T, err error, class backend.ErrorClass, cause backend.Cause, words string) {
	t.Helper()
	e, ok := errors.AsType[*backend.Error](err)
	if !ok || e.Class != class || e.Cause != cause || !strings.Contains(err.Error(), words) {
		t.Errorf("the error is %v (%+v), want %s, %s, %q", err, e, class, cause, words)
	}
	if err != nil && strings.Contains(err.Error(), "secret/") {
		t.Errorf("the error shows a secret: %v", err)
	}
}

func TestWhatIsStoredIsReadBack(t *testing.T) {
	r := newRig(t, route53test.Options{})
	for _, c := range []struct {
		what   string
		set    rr.Set
		stored string // name and first value at the server
	}{
		{"a wildcard", r.set("*", rr.TypeA, "192.0.2.1"), `\052.example.org. 192.0.2.1`},
		{"a name with a slash", r.set("0/25", rr.TypePTR, "a/b.example.net."), `0\05725.example.org. a/b.example.net.`},
		{"a dot inside of a label", r.set(`a\.b`, rr.TypeCNAME, `c\.d.example.net.`),
			`a\056b.example.org. c\056d.example.net.`},
		{"octets that are no ASCII", r.set("bin", rr.TypeTXT, `"\195\164\000" "q\"b\\"`),
			`bin.example.org. "\303\244\000" "q\"b\\"`},
		{"a semicolon and spaces", r.set("_dmarc", rr.TypeTXT, `"v=DMARC1; p=none"`),
			`_dmarc.example.org. "v=DMARC1; p=none"`},
		{"mail", r.set("", rr.TypeMX, "10 mail.example.net."), "example.org. 10 mail.example.net."},
		{"a service", r.set("_sip._tcp", rr.TypeSRV, "1 2 5060 sip.example.net."),
			"_sip._tcp.example.org. 1 2 5060 sip.example.net."},
		{"a certificate authority", r.set("ca", rr.TypeCAA, `0 issue "ca.example.net; a=b"`),
			`ca.example.org. 0 issue "ca.example.net; a=b"`},
		{"a rule to rewrite", r.set("n", rr.TypeNAPTR, `100 10 "u" "E2U+sip" "!^.*$!sip:x@example.net!" .`),
			`n.example.org. 100 10 "u" "E2U+sip" "!^.*$!sip:x@example.net!" .`},
		{"HTTPS", r.set("h", rr.TypeHTTPS, `1 svc.example.net. alpn=h2`), `h.example.org. 1 svc.example.net. alpn="h2"`},
		{"a key of SSH", r.set("s", rr.TypeSSHFP, "4 2 "+strings.Repeat("AB", 32)), ""},
		{"a certificate", r.set("_443._tcp", rr.TypeTLSA, "3 1 1 "+strings.Repeat("AB", 32)), ""},
		{"a delegation's signer", r.set("sub", rr.TypeDS, "1 13 2 "+strings.Repeat("AB", 32)), ""},
		{"a delegation", r.set("sub", rr.TypeNS, "ns.example.net."), ""},
		{"a long IPv6 address", r.set("v6", rr.TypeAAAA, "2001:DB8:0::1"), "v6.example.org. 2001:db8::1"},
	} {
		t.Run(c.what, func(t *testing.T) {
			if _, err := r.apply(put(c.set)); err != nil {
				t.Fatal(err)
			}
			if name, value, ok := strings.Cut(c.stored, " "); ok {
				if got := r.stored(name, c.set.Type.String()); len(got) == 0 || got[0] != value {
					t.Errorf("the server has %q under %s, want %s", got, name, value)
				}
			}
			found, err := r.zone.Read(t.Context(), r.zone.name, backend.Ask{Keys: []rr.Key{c.set.Key()}})
			if got, _ := found.Sets.Get(c.set.Key()); err != nil || !got.Equal(c.set) {
				t.Errorf("read back: %v, %v, want %v", got, err, c.set)
			}
		})
	}
}

func TestWhatOthersHaveStored(t *testing.T) {
	r := newRig(t, route53test.Options{Page: 2})
	ttl := int64(60)
	weight := int64(1)
	for _, set := range []route53test.Set{
		{Name: "nodot.example.org", Type: "CNAME", TTL: &ttl, Records: []string{"Target.Example.NET"}},
		{Name: "mx.example.org", Type: "MX", TTL: &ttl, Records: []string{"10  mail.example.net"}},
		{Name: "broken.example.org", Type: "A", TTL: &ttl, Records: []string{"not an address"}},
		{Name: "alias.example.org", Type: "A", AliasTarget: &route53test.Alias{HostedZoneID: "Z35SXDOTRQ7X7K",
			DNSName: "lb.example.net."}},
		{Name: "w.example.org", Type: "A", SetIdentifier: "one", Weight: &weight, TTL: &ttl, Records: []string{"192.0.2.1"}},
		{Name: "w.example.org", Type: "A", SetIdentifier: "two", Weight: &weight, TTL: &ttl, Records: []string{"192.0.2.2"}},
	} {
		r.server.Put(r.id, set)
	}
	found, err := r.zone.Read(t.Context(), r.zone.name, backend.Ask{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for s := range found.Sets.All() {
		names = append(names, fmt.Sprintf("%s %s", s.Key(), s.Data[0]))
	}
	if got, want := strings.Join(names[1:], "\n"), `broken.example.org. A \# 14 6e6f7420616e2061646472657373
mx.example.org. MX 10 mail.example.net.
nodot.example.org. CNAME target.example.net.`; got != want {
		t.Errorf("the zone is\n%s\nwant\n%s", got, want)
	}
	if found.SOA.Serial != 1 || found.SOA.TTL != 900 {
		t.Errorf("the SOA is %+v", found.SOA)
	}
	t.Run("a set in another spelling is deleted as it is there", func(t *testing.T) {
		cname := r.set("nodot", rr.TypeCNAME, "target.example.net.")
		cname.TTL = 60
		if _, err := r.apply(drop(cname)); err != nil || r.stored("nodot.example.org.", "CNAME") != nil {
			t.Errorf("it is still there: %v", err)
		}
	})
	t.Run("an alias is replaced by addresses, and deleted, when that is asked for", func(t *testing.T) {
		set := r.set("alias", rr.TypeA, "192.0.2.9")
		if _, err := r.apply(put(set)); err != nil || len(r.stored("alias.example.org.", "A")) != 1 {
			t.Errorf("it was not replaced: %v", err)
		}
		r.server.Put(r.id, route53test.Set{Name: "alias.example.org", Type: "A",
			AliasTarget: &route53test.Alias{HostedZoneID: "Z35SXDOTRQ7X7K", DNSName: "lb.example.net."}})
		if _, err := r.apply(plan.Change{Key: set.Key()},
			put(r.set("alias", rr.TypeCNAME, "other.example.net."))); err != nil {
			t.Errorf("an alias does not give way to a CNAME in one batch: %v", err)
		}
	})
	t.Run("sets of a routing policy stay, and the others of the batch are changed", func(t *testing.T) {
		w := r.set("w", rr.TypeA, "192.0.2.9")
		result, err := r.apply(plan.Change{Key: w.Key()}, put(r.set("new", rr.TypeA, "192.0.2.9")))
		if err != nil || len(result.Rejected) != 1 || !strings.Contains(result.Rejected[0].Reason,
			"w.example.org A has 2 sets of a routing policy") {
			t.Errorf("it is %+v, %v", result, err)
		}
		if r.stored("new.example.org.", "A") == nil {
			t.Error("the other set was not changed")
		}
		_, err = r.apply(put(w))
		wants(t, err, backend.ErrRejected, backend.CauseInvalid,
			"cannot be created as other RRSets exist with the same name and type")
	})
	t.Run("what is not there is deleted, at any number", func(t *testing.T) {
		var changes []plan.Change
		for i := range 20 {
			changes = append(changes, plan.Change{Key: r.set(fmt.Sprintf("none%d", i), rr.TypeA, "192.0.2.1").Key()})
		}
		if _, err := r.apply(append(changes, drop(r.set("never", rr.TypeA, "192.0.2.1")),
			put(r.set("more", rr.TypeA, "192.0.2.1")))...); err != nil {
			t.Error(err)
		}
		before := r.server.Count("ChangeResourceRecordSets")
		if _, err := r.apply(changes[0]); err != nil || r.server.Count("ChangeResourceRecordSets") != before {
			t.Errorf("an empty batch was sent: %v", err)
		}
	})
}

func TestWordsOfTheService(t *testing.T) {
	r := newRig(t, route53test.Options{Sets: 4})
	full := []plan.Change{put(r.set("a", rr.TypeA, "192.0.2.1")), put(r.set("b", rr.TypeA, "192.0.2.1"))}
	if _, err := r.apply(full...); err != nil {
		t.Fatal(err)
	}
	_, err := r.apply(put(r.set("c", rr.TypeA, "192.0.2.1")))
	wants(t, err, backend.ErrRejected, backend.CauseQuota,
		"InvalidChangeBatch: [Exceeded limit MAX_RRSETS_BY_ZONE for zone: "+r.id)
	_, err = r.apply(put(r.set("a", rr.TypeCNAME, "b.example.net.")))
	wants(t, err, backend.ErrRejected, backend.CauseInvalid,
		"RRSet of type CNAME with DNS name a.example.org. is not permitted as it conflicts with other records")
	_, err = r.apply(put(r.set("", rr.TypeCNAME, "b.example.net.")))
	wants(t, err, backend.ErrRejected, backend.CauseInvalid, "is not permitted at apex")
	_, err = r.apply(drop(r.set("", rr.TypeNS, "x.example.net.")))
	wants(t, err, backend.ErrRejected, backend.CauseInvalid,
		"A HostedZone must contain at least one NS record for the zone itself.")
	if _, err := r.apply(drop(full[0].Want), put(r.set("a", rr.TypeCNAME, "b.example.net."))); err != nil {
		t.Errorf("an address does not give way to a CNAME in one batch: %v", err)
	}
	for code, want := range map[string]struct {
		class  backend.ErrorClass
		cause  backend.Cause
		status int
	}{
		"Throttling":              {backend.ErrThrottled, "", 400},
		"ThrottlingException":     {backend.ErrThrottled, "", 400},
		"PriorRequestNotComplete": {backend.ErrThrottled, "", 400},
		"ExpiredToken":            {backend.ErrNotAuthorised, backend.CauseUnauthenticated, 403},
		"AccessDeniedException":   {backend.ErrNotAuthorised, backend.CauseUnauthorised, 403},
		"NewKindOfRefusal":        {backend.ErrNotAuthorised, backend.CauseUnauthorised, 403},
		"LimitsExceeded":          {backend.ErrRejected, backend.CauseQuota, 400},
		"InvalidInput":            {backend.ErrRejected, backend.CauseInvalid, 400},
		"ServiceUnavailable":      {backend.ErrUnavailable, "", 503},
		"InternalFailure":         {backend.ErrUnavailable, "", 500},
	} {
		r.server.Inject(func(string) *route53test.Error {
			return &route53test.Error{Status: want.status, Code: code, Message: "as injected"}
		})
		before := r.server.Count("")
		_, err := r.apply(full...)
		wants(t, err, want.class, want.cause, code+": as injected")
		if n := r.server.Count("") - before; n != 1 {
			t.Errorf("%s: %d requests were made, the engine alone tries again", code, n)
		}
	}
}

func TestATokenIsShownToTheServiceOfTokensAlone(t *testing.T) {
	for _, c := range []struct{ name, endpoint, tokens, want string }{
		{"nothing is said", "", "", ""},
		{"Route 53 is elsewhere", "https://route53.example.org", "", ""},
		{"both are elsewhere", "https://route53.example.org", "https://sts.example.org", "https://sts.example.org"},
	} {
		o := tokenService(Config{Region: DefaultRegion, Endpoint: c.endpoint, STSEndpoint: c.tokens}, http.DefaultClient)
		if got := aws.ToString(o.BaseEndpoint); got != c.want {
			t.Errorf("%s: the token goes to %q, want %q", c.name, got, c.want)
		}
	}
}

func TestCredentials(t *testing.T) {
	r := newRig(t, route53test.Options{})
	stranger := r.server.NewAccount().NewUser("stranger")
	reader := r.account.NewUser("reader")
	reader.Denied = map[string]bool{"ChangeResourceRecordSets": true}
	role := r.account.NewRole("arn:aws:iam::111122223333:role/dns", "a.token")
	good := access(r.server, r.user)
	try := func(cfg Config) error {
		z := client(t, cfg).Backend(backend.HostedZone{ID: r.id, Name: r.zone.name})
		_, err := z.Apply(t.Context(), r.zone.name,
			backend.Batch{Changes: []plan.Change{put(r.set("a", rr.TypeA, "192.0.2.1"))}})
		return err
	}
	with := func(change func(*Config)) Config {
		cfg := good
		change(&cfg)
		return cfg
	}
	if err := try(good); err != nil {
		t.Error(err)
	}
	if err := try(with(func(c *Config) { c.Region = "eu-central-1" })); err != nil {
		t.Errorf("from another region: %v", err)
	}
	wants(t, try(with(func(c *Config) { c.SecretAccessKey = "secret/other" })), backend.ErrNotAuthorised,
		backend.CauseUnauthenticated, "SignatureDoesNotMatch")
	wants(t, try(with(func(c *Config) { c.AccessKeyID = "AKIAOTHER" })), backend.ErrNotAuthorised,
		backend.CauseUnauthenticated, "InvalidClientTokenId")
	wants(t, try(with(func(c *Config) { c.SessionToken = "x" })), backend.ErrNotAuthorised, backend.CauseUnauthenticated,
		"InvalidClientTokenId")
	wants(t, try(access(r.server, stranger)), backend.ErrNotAuthorised, backend.CauseUnauthorised, "AccessDenied")
	wants(t, try(access(r.server, reader)), backend.ErrNotAuthorised, backend.CauseUnauthorised,
		"is not authorized to perform: route53:ChangeResourceRecordSets")
	assumed := Config{RoleARN: "arn:aws:iam::111122223333:role/dns", Token: "a.token", Region: DefaultRegion,
		Endpoint: r.server.URL, STSEndpoint: r.server.URL}
	if err := try(assumed); err != nil || role.SessionToken == "" {
		t.Errorf("a workload's identity: %v", err)
	}
	assumed.Token = "wrong"
	wants(t, try(assumed), backend.ErrNotAuthorised, backend.CauseUnauthenticated, "InvalidIdentityToken")
	r.user.Rotate()
	wants(t, try(good), backend.ErrNotAuthorised, backend.CauseUnauthenticated, "InvalidClientTokenId")
	if err := try(access(r.server, r.user)); err != nil {
		t.Errorf("with the new key: %v", err)
	}
	r.server.RemoveZone(r.id)
	wants(t, try(access(r.server, r.user)), backend.ErrNoZone, backend.CauseInvalid,
		"NoSuchHostedZone: No hosted zone found with ID: "+r.id)
	if err := r.server.Stop(); err != nil {
		t.Fatal(err)
	}
	wants(t, try(access(r.server, r.user)), backend.ErrUnavailable, "", "connection refused")
}

func TestAClockThatIsWrong(t *testing.T) {
	r := newRig(t, route53test.Options{})
	late := serve(t, route53test.Options{Now: func() time.Time { return time.Now().Add(6 * time.Minute) }})
	u := late.NewAccount().NewUser("zonefold")
	_, err := client(t, access(late, u)).HostedZones(t.Context())
	wants(t, err, backend.ErrNotAuthorised, backend.CauseUnauthenticated, "Signature expired")
	if _, err := r.zone.client.HostedZones(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestZonesOfAnAccount(t *testing.T) {
	r := newRig(t, route53test.Options{})
	private := r.account.AddZone("example.org", true)
	r.server.NewAccount().AddZone("example.com", false)
	for i := range 250 {
		r.account.AddZone(fmt.Sprintf("z%03d.example.net", i), false)
	}
	zones, err := r.zone.client.HostedZones(t.Context())
	if err != nil || len(zones) != 252 || r.server.Count("ListHostedZones") != 3 {
		t.Errorf("%d zones in %d pages, %v", len(zones), r.server.Count("ListHostedZones"), err)
	}
	if z, ok := backend.ZoneOf(zones, parse(t, "www.example.org.")); !ok || z.ID != r.id || z.Private {
		t.Errorf("of the public and the private zone %+v was chosen", z)
	}
	for _, id := range []string{private, "/hostedzone/" + private, "hostedzone/" + private} {
		if z, err := r.zone.client.HostedZone(t.Context(), id); err != nil || z.ID != private || !z.Private ||
			z.Target.View != private {
			t.Errorf("zone %s is %+v, %v", id, z, err)
		}
	}
	for _, id := range []string{"", "example.org", "../change/C1", "Z0000000000000"} {
		_, err := r.zone.client.HostedZone(t.Context(), id)
		wants(t, err, backend.ErrNoZone, backend.CauseInvalid, "")
	}
}

func TestAChangeTakesItsTime(t *testing.T) {
	now := time.Now()
	r := newRig(t, route53test.Options{Now: func() time.Time { return now }, Delay: 30 * time.Second})
	result, err := r.apply(put(r.set("a", rr.TypeA, "192.0.2.1")))
	if err != nil || result.Pending == nil {
		t.Fatalf("it is done at once: %v", err)
	}
	if done, err := result.Pending(t.Context()); done || err != nil {
		t.Errorf("it is done before its time: %v", err)
	}
	now = now.Add(30 * time.Second)
	if done, err := result.Pending(t.Context()); !done || err != nil {
		t.Errorf("it is never done: %v", err)
	}
	first, err := r.zone.Apply(t.Context(), r.zone.name,
		backend.Batch{Changes: []plan.Change{put(r.set("b", rr.TypeA, "192.0.2.1"))}})
	if err != nil || first.Pending != nil {
		t.Errorf("a batch that others follow is waited for: %v", err)
	}
}

func TestTheRateIsKept(t *testing.T) {
	t.Parallel()
	r := newRig(t, route53test.Options{Rate: Rate, Burst: burst})
	r.zone.client.limit = rate.NewLimiter(Rate, 1) // the server has seen a request already
	begin := time.Now()
	const calls = 16
	for range calls {
		if _, err := r.zone.client.HostedZone(t.Context(), r.id); err != nil {
			t.Fatal(err)
		}
	}
	if took := time.Since(begin); took < (calls-1)*time.Second/Rate-100*time.Millisecond {
		t.Errorf("%d requests took %v, which is more than %d a second", calls, took, Rate)
	}
	hasty := client(t, access(r.server, r.user))
	var err error
	for range 20 {
		if _, err = hasty.HostedZone(t.Context(), r.id); err != nil {
			break
		}
	}
	wants(t, err, backend.ErrThrottled, "", "Throttling: Rate exceeded")
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	for range 3 {
		_, err = r.zone.client.HostedZone(ctx, r.id)
	}
	wants(t, err, backend.ErrThrottled, "", "the limit of Route 53, 5 requests a second, is reached")
}

func TestBatchesFitTheQuotas(t *testing.T) {
	r := newRig(t, route53test.Options{})
	limits := r.zone.Limits()
	var changes []plan.Change
	room := limits.MaxBytes
	for i := 0; ; i++ {
		c := put(r.set(fmt.Sprintf("n%d", i), rr.TypeA, "192.0.2.1"))
		if room -= limits.Size(c); room < 0 {
			break
		}
		changes = append(changes, c)
	}
	if len(changes) != 500 {
		t.Errorf("%d addresses are thought to fit into a request, 500 do", len(changes))
	}
	if _, err := r.apply(changes...); err != nil {
		t.Error(err)
	}
	long := put(r.set("long", rr.TypeTXT, strings.TrimSpace(strings.Repeat(`"`+strings.Repeat("x", 255)+`" `, 14))))
	for room, changes = limits.MaxBytes-limits.Size(long), nil; room >= 0; room -= limits.Size(long) {
		long.Key.Name = parse(t, fmt.Sprintf("long%d.example.org.", len(changes)))
		long.Want.Name = long.Key.Name
		changes = append(changes, long)
	}
	if _, err := r.apply(changes...); err != nil || len(changes) != 4 {
		t.Errorf("%d long texts are thought to fit into a request: %v", len(changes), err)
	}
}
