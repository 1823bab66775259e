package hook_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/backend/cloudflare"
	"github.com/zonefold/zonefold/internal/backend/cloudflare/cloudflaretest"
	"github.com/zonefold/zonefold/internal/hook"
)

const (
	oneID   = "0123456789abcdef0123456789abcdef"
	otherID = "fedcba9876543210fedcba9876543210"
)

// service is one with the zone example.com, and an account of it.
func service(t *testing.T) (*cloudflaretest.Server, backend.Account) {
	t.Helper()
	f := cloudflaretest.Start(t, &cloudflaretest.Zone{ID: oneID, Name: "example.com", Account: "a1"})
	c, err := cloudflare.New(cloudflare.Config{Token: cloudflaretest.Token, Endpoint: f.URL + "/client/v4"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return f, c
}

func TestWhatAServiceCannotHave(t *testing.T) {
	f, account := service(t)
	zone := parse(t, "example.com.")
	p := before(t, hook.Zone{Name: zone, Backend: hook.Hosted(account, zone, "")})
	many := record("A", "example.com", "many")
	for i := range 201 {
		many.Values = append(many.Values, fmt.Sprintf("192.0.2.%d", i))
	}
	short, long := record("A", "example.com", "www", "192.0.2.1"), record("A", "example.com", "www", "192.0.2.1")
	short.TTL, long.TTL = 59, 86401
	for name, c := range map[string]struct {
		record dnshook.Record
		want   string
	}{
		"a TTL below the least": {short,
			"www.example.com. A is not possible: the server accepts TTLs from 60 to 86400 seconds, but this one is 59."},
		"a TTL above the most":      {long, "this one is 86401."},
		"more values than it takes": {many, "at most 200 records in a set, but this one has 201."},
		"other name servers of a zone": {record("NS", "example.com", "@", "ns.example.net"),
			"the name servers of a zone are the service's own."},
	} {
		t.Run(name, func(t *testing.T) {
			if err := p.Upsert(t.Context(), c.record); dnshook.CodeOf(err) != dnshook.CodeInvalidRecord ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("it comes to %v", err)
			}
		})
	}
	if len(f.Calls) > 0 {
		t.Errorf("the service was asked %s", f.Calls)
	}
}

func TestAServiceThatIsFull(t *testing.T) {
	f, account := service(t)
	f.Quota = 1
	zone := parse(t, "example.com.")
	p := before(t, hook.Zone{Name: zone, Backend: hook.Hosted(account, zone, oneID)})
	if err := p.Upsert(t.Context(), record("A", "example.com", "one", "192.0.2.1")); err != nil {
		t.Fatal(err)
	}
	if err := p.Upsert(t.Context(), record("A", "example.com", "two", "192.0.2.1")); dnshook.CodeOf(
		err) != dnshook.CodeQuotaExceeded {
		t.Errorf("a record more than there is room for comes to %v", err)
	}
}

func TestABatchIsAsLargeAsAServiceTakes(t *testing.T) {
	f, account := service(t)
	zone := parse(t, "example.com.")
	p := before(t, hook.Zone{Name: zone, Backend: hook.Hosted(account, zone, oneID)})
	var operations []dnshook.Operation
	for i := range 450 {
		operations = append(operations, dnshook.Operation{Action: dnshook.ActionUpsert,
			Record: record("A", "example.com", fmt.Sprintf("n%03d", i), "192.0.2.1")})
	}
	for i, err := range p.Batch(t.Context(), operations) {
		if err != nil {
			t.Fatalf("operation %d comes to %v", i, err)
		}
	}
	batches := 0
	for _, call := range f.Calls {
		if strings.HasSuffix(call, "/batch") {
			batches++
		}
	}
	if got := f.Truth(t, f.Zones[0]).Len(); got != 450 || batches != 3 {
		t.Errorf("the service has %d sets after %d batches; want 450 after 3", got, batches)
	}
}

func TestAZoneOfAnAccount(t *testing.T) {
	f, account := service(t)
	zone := parse(t, "example.com.")
	now := time.Unix(1e9, 0)
	begin := func(id string) *hook.Provider {
		p, err := hook.New(hook.Config{Zones: []hook.Zone{{Name: zone, Backend: hook.Hosted(account, zone, id)}},
			Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	set := func(change func()) {
		f.Lock()
		defer f.Unlock()
		change()
	}
	www := record("A", "example.com", "www", "192.0.2.1")
	set(func() { f.Down = true })
	p := begin("")
	if err := p.Health(t.Context()); err == nil {
		t.Error("it is well while the service is down")
	}
	set(func() { f.Down = false })
	if err := p.Upsert(t.Context(), www); err != nil {
		t.Errorf("when the service is back: %v", err)
	}
	if err := p.Health(t.Context()); err != nil {
		t.Errorf("when the service is back its health is %v", err)
	}
	set(func() { f.Zones[0].ID, f.Zones[0].Records = otherID, nil }) // deleted, and made anew
	if err := p.Upsert(t.Context(), www); dnshook.CodeOf(err) != dnshook.CodeServerError {
		t.Errorf("a zone that is gone comes to %v", err)
	}
	if err := p.Upsert(t.Context(), www); err != nil {
		t.Errorf("a zone that was made anew comes to %v", err)
	}
	now = now.Add(time.Minute)
	set(func() { f.Tokens = nil })
	if err := p.Health(t.Context()); err == nil {
		t.Error("it is well with a token that does not count any more")
	}
	set(func() {
		f.Tokens, f.Zones[0].Name = map[string]cloudflaretest.Scope{cloudflaretest.Token: {Read: true, Edit: true}},
			"example.net"
	})
	for name, p := range map[string]*hook.Provider{"by name": begin(""), "by ID": begin(otherID)} {
		if err := p.Health(t.Context()); err == nil || !strings.Contains(err.Error(), "no zone") {
			t.Errorf("another zone, %s, comes to %v", name, err)
		}
	}
}
