package bindcar

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// A store is the zone directory: of each zone a master file, which BIND owns once it has the zone, and a note that says
// which zone the files are of. The notes are why secondary zones, which have no file before their first transfer, and
// names that are no file names are listed and known after a restart.
type store struct {
	dir string

	mu      sync.Mutex
	entries map[string]zoneEntry // by zoneName.text
}

// A zoneEntry is what is kept about a zone.
type zoneEntry struct {
	Zone string `json:"zone"`
	Type string `json:"type"` // "": nothing is kept; there is a master file, and BIND has not been asked about it yet
}

const (
	zoneSuffix = ".zone"
	noteSuffix = ".zonefold.json"
	fileMode   = 0o640
)

// openStore reads the notes. Master files without one, which the existing bindcar made, perhaps, count as zones until
// BIND says that they are none: a list that lacks a zone does more harm than one that has a zone too many. A note that
// cannot be read is told and passed over: the other zones have to be served all the same.
func openStore(dir string, tell func(error)) (*store, error) {
	s := &store{dir: dir, entries: map[string]zoneEntry{}}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the zone directory: %w", err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), noteSuffix) {
			continue
		}
		n, err := readEntry(filepath.Join(dir, e.Name()))
		if err != nil {
			tell(err)
			continue
		}
		s.entries[n.Zone] = n
	}
	for _, e := range entries {
		stem, ok := strings.CutSuffix(e.Name(), zoneSuffix)
		if !ok {
			continue
		}
		zone, err := parseZone(stem)
		if _, known := s.entries[zone.text()]; err == nil && !known {
			s.entries[zone.text()] = zoneEntry{Zone: zone.text()}
		}
	}
	return s, nil
}

func readEntry(path string) (zoneEntry, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return zoneEntry{}, fmt.Errorf("reading the zone directory: %w", err)
	}
	var n zoneEntry
	if err := json.Unmarshal(text, &n); err != nil {
		return zoneEntry{}, fmt.Errorf("reading %s: %w", path, err)
	}
	zone, err := parseZone(n.Zone)
	if err != nil {
		return zoneEntry{}, fmt.Errorf("reading %s: %w", path, err)
	}
	n.Zone = zone.text()
	return n, nil
}

// file is the path of a zone's master file.
func (s *store) file(zone zoneName) string { return filepath.Join(s.dir, zone.stem()+zoneSuffix) }

// put notes a zone.
func (s *store) put(zone zoneName, typ string) error {
	n := zoneEntry{Zone: zone.text(), Type: typ}
	s.mu.Lock()
	old, known := s.entries[n.Zone]
	s.mu.Unlock()
	if known && old == n {
		return nil
	}
	text, err := json.Marshal(n)
	if err != nil {
		return err
	}
	if err := replaceFile(filepath.Join(s.dir, zone.stem()+noteSuffix), append(text, '\n')); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.entries[n.Zone] = n
	return nil
}

// drop takes a note away, as BIND does not know the zone. Files stay: they may be all that is left of it.
func (s *store) drop(zone zoneName) error {
	if err := remove(filepath.Join(s.dir, zone.stem()+noteSuffix)); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.entries, zone.text())
	return nil
}

// has reports whether BIND is known to have a zone.
func (s *store) has(zone zoneName) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.entries[zone.text()].Type != ""
}

// zones lists the zones in order.
func (s *store) zones() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	names := make([]string, 0, len(s.entries))
	for name := range s.entries {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func (s *store) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.entries)
}

// prepare puts the master file of a new zone in place, "" for none, and takes away what an earlier zone of the name
// left: BIND would apply an old journal to the file.
func (s *store) prepare(zone zoneName, text string) error {
	if text == "" {
		return s.clear(zone, "")
	}
	if err := s.clear(zone, zoneSuffix); err != nil {
		return err
	}
	return replaceFile(s.file(zone), []byte(text))
}

// forget removes the zone's files and its note, the note last.
func (s *store) forget(zone zoneName) error {
	if err := s.clear(zone, ""); err != nil {
		return err
	}
	return s.drop(zone)
}

// clear removes what BIND writes for a zone beside its master file (journals, signed copies), and the file itself
// unless it is the one to keep.
func (s *store) clear(zone zoneName, keep string) error {
	for _, suffix := range []string{zoneSuffix, ".zone.jnl", ".zone.jbk", ".zone.signed", ".zone.signed.jnl"} {
		if suffix == keep {
			continue
		}
		if err := remove(filepath.Join(s.dir, zone.stem()+suffix)); err != nil {
			return err
		}
	}
	return nil
}

func remove(path string) error {
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("removing a file of a zone: %w", err)
	}
	return nil
}

// replaceFile writes a file whole or not at all.
func replaceFile(path string, text []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".bindcar-*")
	if err != nil {
		return fmt.Errorf("writing %s: %w", path, err)
	}
	_, err = f.Write(text)
	err = errors.Join(err, f.Chmod(fileMode), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("writing %s: %w", path, err)
	}
	return nil
}

// writable reports whether files can be made in the zone directory.
func (s *store) writable() error {
	f, err := os.CreateTemp(s.dir, ".bindcar-*")
	if err != nil {
		return err
	}
	f.Close()
	return os.Remove(f.Name())
}
