package dnshook_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/zonefold/zonefold/dnshook"
)

func TestNumbersInFrontOfTheValues(t *testing.T) {
	const wire = `{"type":"SRV","domain":"example.com","subdomain":"_sip._tcp","values":["1 2 5060 a.example.com","1 2 5060 b.example.com"],"ttl":300}`
	srv := dnshook.Record{Type: "SRV", Domain: "example.com", Subdomain: "_sip._tcp", Values: []string{"a.example.com",
		"b.example.com"}, TTL: 300,
		Metadata: &dnshook.Metadata{Priority: new(uint16(1)), Weight: new(uint16(2)), Port: new(uint16(5060))}}
	s := serve(t, 200, `{"success":true,"record":`+wire+`,"results":[{"success":true},{"success":true}]}`)
	c, err := dnshook.NewClient(dnshook.ClientConfig{
		Server: s.URL, Now: func() time.Time { return noon }, InRDATA: true,
		Keys: func() (dnshook.Key, error) { return dnshook.Key{Secret: []byte(secret)}, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	want, _ := json.Marshal(srv)
	told, err := c.Upsert(t.Context(), srv)
	if got, _ := json.Marshal(told); err != nil || string(got) != string(want) {
		t.Errorf("the server is heard to have %s, %v, want %s", got, err, want)
	}
	read, there, err := c.Get(t.Context(), srv.ID())
	if got, _ := json.Marshal(read); err != nil || !there || string(got) != string(want) {
		t.Errorf("the server shows %s, %t, %v, want %s", got, there, err, want)
	}
	if _, err := c.Batch(t.Context(), []dnshook.Operation{{Action: dnshook.ActionUpsert, Record: srv},
		{Action: dnshook.ActionDelete, Record: srv}}); err != nil {
		t.Error(err)
	}
	const gone = `{"type":"SRV","domain":"example.com","subdomain":"_sip._tcp"}`
	asked := "POST /records {\"record\":" + wire + `,"operation":"upsert"}` +
		"\nGET /records/SRV/example.com/_sip._tcp \n" +
		`POST /records/batch {"operations":[{"operation":"upsert","record":` + wire + `},{"operation":"delete","record":` +
		gone + "}]}"
	if got := strings.Join(s.asked, "\n"); got != asked {
		t.Errorf("it sends\n%s\nwant\n%s", got, asked)
	}
}

func TestWhatIsNotInFrontOfTheValues(t *testing.T) {
	for sentence, wire := range map[string]string{
		"values whose numbers differ":      `{"type":"MX","domain":"example.com","subdomain":"@","values":["10 a.example.com","20 b.example.com"]}`,
		"a host alone":                     `{"type":"MX","domain":"example.com","subdomain":"@","values":["a.example.com"]}`,
		"a number that is none":            `{"type":"MX","domain":"example.com","subdomain":"@","values":["ten a.example.com"]}`,
		"a number that is too large":       `{"type":"MX","domain":"example.com","subdomain":"@","values":["65536 a.example.com"]}`,
		"metadata all the same":            `{"type":"MX","domain":"example.com","subdomain":"@","values":["a.example.com"],"metadata":{"priority":10}}`,
		"no values":                        `{"type":"MX","domain":"example.com","subdomain":"@","values":null}`,
		"a text that looks like an SRV":    `{"type":"TXT","domain":"example.com","subdomain":"@","values":["1 2 3 a.example.com"]}`,
		"an SRV with one number too few":   `{"type":"SRV","domain":"example.com","subdomain":"@","values":["1 2 a.example.com"]}`,
		"values one of which has the host": `{"type":"MX","domain":"example.com","subdomain":"@","values":["10 a.example.com","b.example.com"]}`,
	} {
		t.Run(sentence, func(t *testing.T) {
			s := serve(t, 200, `{"success":true,"record":`+wire+`}`)
			c, err := dnshook.NewClient(dnshook.ClientConfig{Server: s.URL, Now: func() time.Time { return noon }, InRDATA: true,
				Keys: func() (dnshook.Key, error) { return dnshook.Key{Secret: []byte(secret)}, nil }})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(c.Close)
			read, _, err := c.Get(t.Context(), dnshook.ID{Type: "MX", Domain: "example.com", Subdomain: "@"})
			if got, _ := json.Marshal(read); err != nil || string(got) != wire {
				t.Errorf("it is read as %s, %v, want as it is", got, err)
			}
		})
	}
}
