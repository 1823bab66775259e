// Command dnshook-server keeps the records of DNSClasses in a zone file, which a DNS server such as CoreDNS serves and
// reads again when it changes. docs/dnshook-server.md says how it came to be.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zonefold/zonefold/dnshook"
)

// zoneFile is a zone, as a file of records and as the zone file that is made of it.
type zoneFile struct {
	zone, path string
	now        func() time.Time

	mu      sync.Mutex
	serial  uint32
	records []dnshook.Record
}

// Upsert makes or changes a record.
func (z *zoneFile) Upsert(_ context.Context, r dnshook.Record) error {
	name := r.ID().FQDN()
	if name != z.zone && !strings.HasSuffix(name, "."+z.zone) {
		return &dnshook.Error{Code: dnshook.CodeInvalidDomain, Message: name + " is not in " + z.zone + "."}
	}
	return z.change(func(records []dnshook.Record) ([]dnshook.Record, error) {
		clash := r.Type == "CNAME" && name == z.zone // it has the SOA
		for _, other := range records {
			clash = clash || other.ID().FQDN() == name && other.Type != r.Type && (other.Type == "CNAME" || r.Type == "CNAME")
		}
		if clash {
			return nil, &dnshook.Error{Code: dnshook.CodeInvalidRecord, Message: name +
				" has records that an alias cannot stand beside."}
		}
		return append(without(records, r.ID()), r), nil
	})
}

// Delete removes a record.
func (z *zoneFile) Delete(_ context.Context, id dnshook.ID) error {
	return z.change(func(records []dnshook.Record) ([]dnshook.Record, error) {
		rest := without(records, id)
		if len(rest) == len(records) {
			return nil, dnshook.ErrNotFound
		}
		return rest, nil
	})
}

// Get returns a record.
func (z *zoneFile) Get(_ context.Context, id dnshook.ID) (dnshook.Record, error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	for _, r := range z.records {
		if same(r.ID(), id) {
			return r, nil
		}
	}
	return dnshook.Record{}, dnshook.ErrNotFound
}

// Health says whether the zone file is there.
func (z *zoneFile) Health(context.Context) error {
	_, err := os.Stat(z.path)
	return err
}

// same reports whether two IDs are of one record: the name counts, and not how it is divided.
func same(a, b dnshook.ID) bool { return a.Type == b.Type && a.FQDN() == b.FQDN() }

func without(records []dnshook.Record, id dnshook.ID) []dnshook.Record {
	return slices.DeleteFunc(slices.Clone(records), func(r dnshook.Record) bool { return same(r.ID(), id) })
}

// change writes both files, and then takes over what is in them.
func (z *zoneFile) change(to func([]dnshook.Record) ([]dnshook.Record, error)) error {
	z.mu.Lock()
	defer z.mu.Unlock()
	records, err := to(z.records)
	if err != nil {
		return err
	}
	serial := max(z.serial+1, uint32(z.now().Unix()))
	text, err := z.text(serial, records)
	if err != nil {
		return err
	}
	kept, err := json.Marshal(records)
	if err != nil {
		return err
	}
	if err := errors.Join(replace(z.path+".json", kept), replace(z.path, text)); err != nil {
		return err
	}
	z.records, z.serial = records, serial
	return nil
}

// text is the zone file (RFC 1035 §5).
func (z *zoneFile) text(serial uint32, records []dnshook.Record) ([]byte, error) {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s. 300 IN SOA ns.%[1]s. hostmaster.%[1]s. %d 3600 600 604800 300\n", z.zone, serial)
	fmt.Fprintf(&b, "%s. 300 IN NS ns.%[1]s.\n", z.zone)
	for _, r := range records {
		data, err := r.Data()
		if err != nil {
			return nil, err
		}
		for _, d := range data {
			fmt.Fprintf(&b, "%s. %d IN %s %s\n", r.ID().FQDN(), r.TTL, r.Type, d)
		}
	}
	return b.Bytes(), nil
}

// replace puts a file in the place of another in one step.
func replace(path string, text []byte) error {
	if err := os.WriteFile(path+".new", text, 0o644); err != nil { //nolint:gosec // the DNS server reads it as somebody else
		return err
	}
	return os.Rename(path+".new", path)
}

// open reads what was kept.
func open(zone, path string, now func() time.Time) (*zoneFile, error) {
	z := &zoneFile{zone: zone, path: path, now: now}
	text, err := os.ReadFile(path + ".json")
	if err == nil {
		err = json.Unmarshal(text, &z.records)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading the records of an earlier run: %w", err)
	}
	return z, z.change(func(records []dnshook.Record) ([]dnshook.Record, error) { return records, nil })
}

// handler is the whole server.
func handler(z *zoneFile, secretFile string) (http.Handler, error) {
	return dnshook.NewHandler(dnshook.HandlerConfig{
		Provider: z,
		Now:      z.now,
		Keys: func() ([]dnshook.Key, error) {
			secret, err := os.ReadFile(secretFile)
			return []dnshook.Key{{Secret: secret}}, err
		},
		Observe: func(x dnshook.Exchange) { log.Println(x.Method, x.Endpoint, x.ID, x.Status, x.Err) },
	})
}

func main() {
	zone := flag.String("zone", "example.com", "the zone")
	file := flag.String("file", "example.com.zone", "the zone file")
	secret := flag.String("secret-file", "secret", "a file with the secret")
	listen := flag.String("listen", ":7100", "the address to listen on")
	flag.Parse()
	z, err := open(*zone, *file, time.Now)
	if err != nil {
		log.Fatal(err)
	}
	h, err := handler(z, *secret)
	if err != nil {
		log.Fatal(err)
	}
	server := &http.Server{Addr: *listen, Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: 30 * time.Second}
	log.Fatal(server.ListenAndServe())
}
