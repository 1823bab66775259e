package hook

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/zonefold/zonefold/internal/backend"
	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/plan"
	"github.com/zonefold/zonefold/internal/rr"
)

// Kept is a backend in this process that forgets (the embedded name server), with a journal for each zone: a change is
// answered when it is on the disk, and is there again after a new start. One process has a folder.
type Kept struct {
	backend.Backend
	dir  string
	lock *os.File
	now  func() time.Time

	mu       sync.Mutex
	journals map[dnsname.Name]*os.File
	broken   error // a journal could not be written: what is served may not be kept, so nothing is confirmed any more
}

// Keep makes a Kept of a backend that has no zones yet, and takes the folder for itself: of two that write journals
// there, one would lose what it has confirmed.
func Keep(b backend.Backend, dir string, now func() time.Time) (*Kept, error) {
	lock, err := lockFolder(dir)
	if err != nil {
		return nil, err
	}
	return &Kept{Backend: b, dir: dir, lock: lock, now: now, journals: map[dnsname.Name]*os.File{}}, nil
}

// lockFolder holds a folder until what it returns is closed.
func lockFolder(dir string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("locking the folder %s: %w", dir, err)
	}
	switch free, err := tryLock(f); {
	case err != nil:
		return nil, errors.Join(fmt.Errorf("locking the folder %s: %w", dir, err), f.Close())
	case !free:
		return nil, errors.Join(fmt.Errorf(
			"another process keeps its records in the folder %s; end it, or choose another folder", dir), f.Close())
	}
	return f, nil
}

// entry is a line of a journal: what a change made of a zone.
type entry struct {
	SOA  string    `json:"soa"`
	TTL  uint32    `json:"ttl"` // of the SOA
	Sets []keptSet `json:"sets,omitempty"`
}

// keptSet is a set; without data it has gone.
type keptSet struct {
	Name string   `json:"name"`
	Type string   `json:"type"`
	TTL  uint32   `json:"ttl,omitempty"`
	Data []string `json:"data,omitempty"`
}

// Open serves a zone as it was kept, or a new one. Its serial is above all that were served before: one may have been
// that was not kept.
func (k *Kept) Open(ctx context.Context, zone dnsname.Name) error {
	soa, sets, err := k.load(zone)
	if err != nil {
		return fmt.Errorf("reading what was kept of zone %s: %w", zone, err)
	}
	if soa == (rr.SOA{}) {
		if soa, err = fresh(zone); err != nil {
			return err
		}
	} else {
		soa.Serial++
	}
	soa.Serial = rr.NextSerial(soa.Serial, k.now())
	b := backend.Batch{SOA: &soa, Create: true, Last: true}
	for set := range sets.All() {
		b.Changes = append(b.Changes, plan.Change{Key: set.Key(), Want: set})
	}
	if _, there := sets.Get(apexNS(zone)); !there {
		b.Changes = append(b.Changes, plan.Change{Key: apexNS(zone)})
	}
	if b.Changes, err = served(zone, b.Changes); err != nil {
		return err
	}
	if err := k.begin(zone, soa, b.Changes); err != nil {
		return fmt.Errorf("keeping zone %s: %w", zone, err)
	}
	_, err = k.Backend.Apply(ctx, zone, b)
	return err
}

func (k *Kept) path(zone dnsname.Name) string {
	return filepath.Join(k.dir, url.PathEscape(zone.String())+"journal")
}

// load reads a journal. A last line that breaks off is of a change that nobody was told of.
func (k *Kept) load(zone dnsname.Name) (soa rr.SOA, sets rr.Sets, err error) {
	text, err := os.ReadFile(k.path(zone))
	if errors.Is(err, fs.ErrNotExist) {
		return soa, sets, nil
	}
	if err != nil {
		return soa, sets, err
	}
	lines := bytes.Split(text, []byte{'\n'})
	txn := sets.Txn()
	for i, line := range lines[:len(lines)-1] {
		if soa, err = replay(line, txn); err != nil {
			return soa, sets, fmt.Errorf("%s:%d: %w", k.path(zone), i+1, err)
		}
	}
	return soa, txn.Sets(), nil
}

// replay takes one line over.
func replay(line []byte, txn *rr.SetsTxn) (rr.SOA, error) {
	var e entry
	if err := json.Unmarshal(line, &e); err != nil {
		return rr.SOA{}, err
	}
	soa, err := rr.ParseSOA(e.SOA)
	if err != nil {
		return soa, err
	}
	soa.TTL = e.TTL
	for _, s := range e.Sets {
		name, err := dnsname.Parse(s.Name)
		if err != nil {
			return soa, err
		}
		t, err := rr.ParseType(s.Type)
		if err != nil {
			return soa, err
		}
		key := rr.Key{Name: name, Type: t}
		if len(s.Data) == 0 {
			txn.Delete(key)
		} else {
			txn.Put(rr.NewSet(key, s.TTL, s.Data...))
		}
	}
	return soa, nil
}

// lineOf is a line of a journal.
func lineOf(soa rr.SOA, changes []plan.Change) ([]byte, error) {
	e := entry{SOA: soa.Data(), TTL: soa.TTL}
	for _, c := range changes {
		e.Sets = append(e.Sets, keptSet{Name: c.Key.Name.String(), Type: c.Key.Type.String(), TTL: c.Want.TTL,
			Data: c.Want.Data})
	}
	line, err := json.Marshal(e)
	return append(line, '\n'), err
}

// begin puts a journal of one line in the place of the old one.
func (k *Kept) begin(zone dnsname.Name, soa rr.SOA, changes []plan.Change) error {
	line, err := lineOf(soa, changes)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(k.path(zone)+".new", os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	if _, err = f.Write(line); err == nil {
		err = f.Sync()
	}
	if err == nil {
		err = os.Rename(f.Name(), k.path(zone))
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.journals[zone] = f
	return syncFolder(k.dir)
}

// syncFolder has the names in a folder on the disk.
func syncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Apply makes a change and keeps it.
func (k *Kept) Apply(ctx context.Context, zone dnsname.Name, b backend.Batch) (backend.Result, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	journal := k.journals[zone]
	if k.broken != nil || journal == nil {
		return backend.Result{}, &backend.Error{Class: backend.ErrUnavailable, Words: "changes cannot be kept", Err: k.broken}
	}
	if err := k.aliased(ctx, zone, b.Changes); err != nil {
		return backend.Result{}, err
	}
	changes, err := served(zone, b.Changes)
	if err != nil {
		return backend.Result{}, err
	}
	b.Changes = changes
	result, err := k.Backend.Apply(ctx, zone, b)
	if err != nil {
		return result, err
	}
	line, err := lineOf(result.SOA, b.Changes)
	if err == nil {
		_, err = journal.Write(line)
	}
	if err == nil {
		err = journal.Sync()
	}
	if err != nil {
		k.broken = fmt.Errorf("keeping zone %s: %w; repair the disk and start again", zone, err)
		return backend.Result{}, &backend.Error{Class: backend.ErrUnavailable, Words: "changes cannot be kept", Err: k.broken}
	}
	return result, nil
}

// Read returns what is served, unless it may not be kept.
func (k *Kept) Read(ctx context.Context, zone dnsname.Name, ask backend.Ask) (backend.Observed, error) {
	k.mu.Lock()
	broken := k.broken
	k.mu.Unlock()
	if broken != nil {
		return backend.Observed{}, &backend.Error{Class: backend.ErrUnavailable, Words: "changes cannot be kept", Err: broken}
	}
	return k.Backend.Read(ctx, zone, ask)
}

// Close closes the journals, and leaves the folder to others.
func (k *Kept) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	var errs []error
	for _, f := range k.journals {
		errs = append(errs, f.Close())
	}
	clear(k.journals)
	return errors.Join(append(errs, k.lock.Close())...)
}
