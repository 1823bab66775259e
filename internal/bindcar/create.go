package bindcar

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/zonefold/zonefold/internal/bind9"
)

func (s *Server) createZone(w http.ResponseWriter, r *http.Request) (int, any, error) {
	var c CreateZone
	if err := decode(w, r, &c); err != nil {
		return 0, nil, err
	}
	text, err := s.create(r.Context(), c)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusCreated, done(text, "Zone %s created successfully", c.ZoneName), nil
}

// addZone is the document's path: a zone that exists is as good as one that was made.
func (s *Server) addZone(w http.ResponseWriter, r *http.Request) (int, any, error) {
	var c addZone
	if err := decode(w, r, &c); err != nil {
		return 0, nil, err
	}
	name := r.PathValue("name")
	zone, err := parseZone(name)
	if err != nil {
		return 0, nil, err
	}
	if said, err := parseZone(c.ZoneName); c.ZoneName != "" && (err != nil || said.text() != zone.text()) {
		return 0, nil, invalid("the zone is %s in the path and %s in zoneName; leave zoneName out", name, clip(c.ZoneName))
	}
	c.ZoneName = name
	text, err := s.create(r.Context(), CreateZone(c))
	if err != nil && statusOf(err) == http.StatusConflict {
		return http.StatusOK, done("", "Zone %s already exists", name), nil
	}
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, done(text, "Zone %s created successfully", name), nil
}

// create makes a zone. Nothing is written before BIND has said that it does not have the zone, and where BIND refuses
// it nothing is left.
func (b *bind) create(ctx context.Context, c CreateZone) (string, error) {
	zone, err := parseZone(c.ZoneName)
	if err != nil {
		return "", err
	}
	config, file, err := b.plan(zone, c)
	if err != nil {
		return "", err
	}
	command, err := bind9.AddZone(zone.text(), config)
	if err != nil {
		return "", invalid("%v", err)
	}
	unlock, err := b.locks.lock(ctx, zone.text())
	if err != nil {
		return "", err
	}
	defer unlock()
	ctx = context.WithoutCancel(ctx) // who has begun ends it, even if the caller has gone
	switch found, err := b.control.show(ctx, zone); {
	case err == nil:
		return "", errors.Join(b.known(zone, string(found.Type)), exists(zone.given))
	case errors.Is(err, errOther):
		return "", exists(zone.given)
	case !errors.Is(err, bind9.ErrNotFound):
		return "", unavailable("asking BIND about "+zone.given, err)
	}
	if err := b.store.put(zone, c.ZoneType); err != nil {
		return "", err
	}
	if err := b.store.prepare(zone, file); err != nil {
		return "", errors.Join(err, b.store.forget(zone))
	}
	text, err := b.control.do(ctx, command, nil)
	if err != nil {
		return "", b.notCreated(zone, err)
	}
	b.log.Info("a zone was made", "zone", zone.text(), "type", c.ZoneType)
	b.loadKeys(ctx, zone, config.DNSSECPolicy)
	b.loaded.forget(zone.text())
	return text, errors.Join(b.store.put(zone, c.ZoneType), b.content.add(zone.text()))
}

// loadKeys has BIND make and look at the keys of a zone that has a policy now. It does so by itself when it loads the
// zone, but not always:
// 9.18 was seen to add a zone and never to come to its keys, while several servers started at once.
func (b *bind) loadKeys(ctx context.Context, zone zoneName, policy string) {
	if policy == "" || policy == "none" {
		return
	}
	if _, err := b.control.zone(ctx, "loadkeys", zone); err != nil {
		b.log.Warn("BIND could not be told to load the keys of a zone; it is signed when BIND loads them by itself", "zone",
			zone.text(), "error", err)
	}
}

// known takes note of a zone that BIND has. One that is ours counts as made, as the call that made it may have got no
// answer.
func (b *bind) known(zone zoneName, typ string) error {
	if b.store.has(zone) {
		return b.content.add(zone.text())
	}
	return b.learn(zone, typ)
}

// notCreated cleans up after BIND did not take a zone. Whether it did is not known when it did not answer; then the
// files stay, and the next call finds out.
func (b *bind) notCreated(zone zoneName, err error) error {
	var refused *bind9.CommandError
	switch {
	case errors.Is(err, bind9.ErrExists):
		return exists(zone.given)
	case !errors.As(err, &refused):
		return unavailable("adding "+zone.given, err)
	}
	if cleanup := b.store.forget(zone); cleanup != nil {
		return cleanup
	}
	if errors.Is(err, bind9.ErrFailed) || errors.Is(err, bind9.ErrNoFile) {
		return internal("adding "+zone.given, err)
	}
	return invalid("BIND refuses the zone %s: %s", zone.given, strings.ReplaceAll(refused.Error(), b.store.dir+"/", ""))
}

// plan checks a request and makes of it the zone's configuration and, for a primary zone, its first content.
func (b *bind) plan(zone zoneName, c CreateZone) (config bind9.Zone, file string, err error) {
	config = bind9.Zone{Type: bind9.ZoneType(c.ZoneType), File: b.store.file(zone)}
	lists := zoneLists{alsoNotify: c.ZoneConfig.AlsoNotify, allowTransfer: c.ZoneConfig.AllowTransfer}
	switch c.ZoneType {
	case Primary:
		if file, err = zoneFile(zone, c.ZoneConfig, b.now()); err != nil {
			return config, "", err
		}
		if c.UpdateKeyName != nil {
			if config.AllowUpdate, err = b.updaters(*c.UpdateKeyName); err != nil {
				return config, "", err
			}
		}
	case Secondary:
		if c.ZoneConfig.Primaries == nil || len(*c.ZoneConfig.Primaries) == 0 {
			return config, "", invalid("Secondary zones require at least one primary server in 'primaries' field")
		}
		lists.primaries = c.ZoneConfig.Primaries
	default:
		return config, "", invalid("Invalid zone type: %s. Must be '%s' or '%s'", clip(c.ZoneType), Primary, Secondary)
	}
	if err := b.lists(&config, lists); err != nil {
		return config, "", err
	}
	if c.ZoneConfig.DNSSECPolicy != nil {
		if err := identifier("DNSSEC policy", *c.ZoneConfig.DNSSECPolicy); err != nil {
			return config, "", err
		}
		config.DNSSECPolicy = *c.ZoneConfig.DNSSECPolicy
	}
	config.InlineSigning = c.ZoneConfig.InlineSigning
	signInPlace(&config)
	if c.Held {
		err = hold(&config)
	}
	return config, file, err
}

// updaters is who may update a zone for which a key is named: for one of our own keys, all of them.
func (b *bind) updaters(key string) (bind9.ACL, error) {
	if err := identifier("update key", key); err != nil {
		return nil, err
	}
	return b.acl("updateKeyName", []string{"key " + key})
}

func (s *Server) deleteZone(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	zone, err := parseZone(r.PathValue("name"))
	if err != nil {
		return 0, nil, err
	}
	text, err := s.remove(r.Context(), zone)
	if err != nil {
		return 0, nil, err
	}
	return http.StatusOK, done(text, "Zone %s deleted successfully", zone.given), nil
}

// delZone is the document's path: a zone that is not there is as good as deleted.
func (s *Server) delZone(w http.ResponseWriter, r *http.Request) (int, any, error) {
	status, body, err := s.deleteZone(w, r)
	if err != nil && statusOf(err) == http.StatusNotFound {
		return http.StatusOK, done("", "Zone %s does not exist", r.PathValue("name")), nil
	}
	return status, body, err
}

// remove deletes a zone and then its files; also the files that are left of a zone that BIND does not have.
func (b *bind) remove(ctx context.Context, zone zoneName) (string, error) {
	unlock, err := b.locks.lock(ctx, zone.text())
	if err != nil {
		return "", err
	}
	defer unlock()
	ctx = context.WithoutCancel(ctx)
	found, err := b.control.show(ctx, zone)
	if err != nil && !errors.Is(err, bind9.ErrNotFound) {
		return "", answer(zone.given, "asking BIND about", err)
	}
	// Files that are not ours may be all that somebody has of the zone.
	command, err := bind9.DeleteZone(zone.text(), found.File == b.store.file(zone))
	text, err := b.control.do(ctx, command, err)
	if err != nil && !errors.Is(err, bind9.ErrNotFound) {
		return "", answer(zone.given, "deleting", err)
	}
	b.loaded.forget(zone.text())
	if err := errors.Join(b.content.remove(zone.text()), b.store.forget(zone)); err != nil {
		return "", internal("removing what is left of "+zone.given, err)
	}
	if err != nil {
		return "", notFound(zone.given)
	}
	b.log.Info("a zone was deleted", "zone", zone.text())
	// as without -clean
	return strings.Replace(text, "' and associated files will be deleted.", "' will be deleted.", 1), nil
}
