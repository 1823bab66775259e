package bindcar

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/zonefold/zonefold/internal/bind9"
)

// notLoaded is what details of a zone's status are while BIND has the zone and cannot answer for it: a secondary zone
// before its first transfer, or one whose file does not load. The status is 200: the zone exists.
const notLoaded = "name: %s\ntype: %s\nstate: not loaded"

func (s *Server) listZones(http.ResponseWriter, *http.Request) (int, any, error) {
	zones := s.store.zones()
	return http.StatusOK, ZoneList{Zones: zones, Count: len(zones)}, nil
}

// shown is the zone that the path names, and how BIND has it.
func (s *Server) shown(r *http.Request) (zoneName, bind9.Zone, error) {
	zone, err := parseZone(r.PathValue("name"))
	if err != nil {
		return zone, bind9.Zone{}, err
	}
	found, err := s.control.show(r.Context(), zone)
	return zone, found, s.missing(zone, err)
}

func (s *Server) getZone(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	zone, found, err := s.shown(r)
	if err != nil {
		return 0, nil, err
	}
	info := ZoneInfo{Name: zone.given, ZoneType: string(found.Type)}
	if found.File != "" {
		info.FilePath = &found.File
	}
	text, err := s.control.zone(r.Context(), "zonestatus", zone)
	switch {
	case errors.Is(err, bind9.ErrNotLoaded):
	case err != nil:
		return 0, nil, answer(zone.given, "asking BIND for the status of", err)
	default:
		if serial, err := strconv.ParseUint(statusLine(text, "serial"), 10, 32); err == nil {
			n := uint32(serial)
			info.Serial = &n
		}
	}
	return http.StatusOK, info, s.learn(zone, string(found.Type))
}

// missing makes of an error about a zone the one for the caller, and takes note of a zone that is gone.
func (b *bind) missing(zone zoneName, err error) error {
	if errors.Is(err, bind9.ErrNotFound) {
		if err := b.store.drop(zone); err != nil {
			return err
		}
	}
	return answer(zone.given, "asking BIND about", err)
}

// learn notes a zone that somebody gave BIND without us.
func (b *bind) learn(zone zoneName, typ string) error {
	if b.store.has(zone) {
		return nil
	}
	return b.store.put(zone, typ)
}

// statusLine returns the value of a line such as "serial: 7".
func statusLine(text, name string) string {
	for scanner := bufio.NewScanner(strings.NewReader(text)); scanner.Scan(); {
		if value, ok := strings.CutPrefix(scanner.Text(), name+": "); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func (s *Server) zoneStatus(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	zone, err := parseZone(r.PathValue("name"))
	if err != nil {
		return 0, nil, err
	}
	text, err := s.control.zone(r.Context(), "zonestatus", zone)
	if errors.Is(err, bind9.ErrNotLoaded) {
		var found bind9.Zone
		if found, err = s.control.show(r.Context(), zone); err == nil {
			text = fmt.Sprintf(notLoaded, zone.text(), found.Type)
		}
	}
	if err := s.missing(zone, err); err != nil {
		return 0, nil, err
	}
	return http.StatusOK, done(text, "Zone %s status retrieved", zone.given), nil
}

// done is the body of what has worked. BIND's words are there even where it had none.
func done(details, message, zone string) ZoneResponse {
	return ZoneResponse{Success: true, Message: fmt.Sprintf(message, zone), Details: &details}
}

// commandZone gives BIND a command about a zone.
func (s *Server) commandZone(verb, message string) func(http.ResponseWriter, *http.Request) (int, any, error) {
	return func(_ http.ResponseWriter, r *http.Request) (int, any, error) {
		zone, err := parseZone(r.PathValue("name"))
		if err != nil {
			return 0, nil, err
		}
		text, err := s.control.zone(r.Context(), verb, zone)
		if verb == "freeze" && errors.Is(err, bind9.ErrFrozen) {
			text, err = "the zone was frozen already", nil
		}
		if err := s.missing(zone, err); err != nil {
			return 0, nil, err
		}
		return http.StatusOK, done(text, message, zone.given), nil
	}
}

func (s *Server) modifyZone(w http.ResponseWriter, r *http.Request) (int, any, error) {
	zone, err := parseZone(r.PathValue("name"))
	if err != nil {
		return 0, nil, err
	}
	var change ModifyZone
	if err := decode(w, r, &change); err != nil {
		return 0, nil, err
	}
	if change == (ModifyZone{}) {
		return 0, nil, invalid("At least one field (alsoNotify, allowTransfer, allowUpdate, or primaries) must be provided")
	}
	unlock, err := s.locks.lock(r.Context(), zone.text())
	if err != nil {
		return 0, nil, err
	}
	defer unlock()
	text, err := s.modify(context.WithoutCancel(r.Context()), zone, change)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, done(text, "Zone %s modified successfully", zone.given), nil
}

// modify reads the zone's configuration, changes what is to be changed and gives it back whole, as modzone replaces
// all.
func (b *bind) modify(ctx context.Context, zone zoneName, change ModifyZone) (string, error) {
	old, err := b.control.show(ctx, zone)
	if err := b.missing(zone, err); err != nil {
		return "", err
	}
	if change.Primaries != nil && (old.Type != bind9.Secondary || len(*change.Primaries) == 0) {
		return "", invalid("primaries: %s is a %s zone; only secondary zones have primaries, at least one", zone.given,
			old.Type)
	}
	if change.AllowUpdate != nil && len(*change.AllowUpdate) > 0 && old.Type != bind9.Primary {
		return "", invalid("allowUpdate: %s is a %s zone, but only primary zones accept updates", zone.given, old.Type)
	}
	next, err := b.changed(old, change)
	if err != nil {
		return "", err
	}
	command, err := bind9.ModifyZone(zone.text(), next)
	text, err := b.control.do(ctx, command, err)
	if err != nil {
		return "", answer(zone.given, "changing", err)
	}
	if next.DNSSECPolicy != old.DNSSECPolicy {
		b.loadKeys(ctx, zone, next.DNSSECPolicy)
	}
	b.loaded.stale() // it may be held, or shown
	return text, nil
}

// zoneLists are the lists of a zone's configuration as callers write them. nil stays as it is, an empty one is left out
// of the configuration, so that the server's own holds.
type zoneLists struct{ alsoNotify, allowTransfer, allowUpdate, primaries *[]string }

func (b *bind) lists(z *bind9.Zone, l zoneLists) (err error) {
	if l.alsoNotify != nil {
		if z.AlsoNotify, err = remotes("alsoNotify", *l.alsoNotify); err != nil {
			return err
		}
	}
	if l.primaries != nil {
		if z.Primaries, err = remotes("primaries", *l.primaries); err != nil {
			return err
		}
	}
	if l.allowTransfer != nil {
		if z.AllowTransfer, err = b.acl("allowTransfer", *l.allowTransfer); err != nil {
			return err
		}
	}
	if l.allowUpdate != nil {
		z.AllowUpdate, err = b.acl("allowUpdate", *l.allowUpdate)
	}
	return err
}

// remotes reads servers: an address, with or without a port, and "key NAME" after it or not.
func remotes(field string, entries []string) ([]bind9.Remote, error) {
	var all []bind9.Remote
	for i, entry := range entries {
		at, key, keyed := strings.Cut(entry, " key ")
		ip, port, err := parseAddress(strings.TrimSpace(at))
		if err != nil {
			return nil, invalid("%s[%d]: %v", field, i, err)
		}
		key = strings.Trim(strings.TrimSpace(key), `"`)
		if keyed {
			if err := identifier("key", key); err != nil {
				return nil, err
			}
		}
		all = append(all, bind9.Remote{Address: ip, Port: port, Key: key})
	}
	return all, nil
}
