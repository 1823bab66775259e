package bindcar

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"github.com/zonefold/zonefold/internal/bind9"
)

// A zone is held by a list of who may ask for it: those who may update it. A zone that is filled in several steps is
// nothing that anybody else is to see: they are refused, as before it was there, and try another server.
func held(z bind9.Zone) bool {
	return z.AllowQuery != nil && slices.Equal(z.AllowQuery.Strings(), z.AllowUpdate.Strings())
}

// hold holds a zone.
func hold(z *bind9.Zone) error {
	if z.AllowUpdate == nil {
		return invalid("held: no key may update the zone, so it could not be filled; name a key in updateKeyName")
	}
	z.AllowQuery, z.AllowTransfer, z.AlsoNotify = z.AllowUpdate, bind9.ACL{}, nil
	return nil
}

// signInPlace has a zone that is updated be signed as it is, unless somebody says otherwise: from 9.20 on BIND would
// keep it twice, with two serials, and compare updates with the one that nobody sees.
func signInPlace(z *bind9.Zone) {
	if z.DNSSECPolicy != "" && z.AllowUpdate != nil && z.InlineSigning == nil {
		no := false
		z.InlineSigning = &no
	}
}

// changed applies a change to a zone's configuration.
func (b *bind) changed(z bind9.Zone, change ModifyZone) (bind9.Zone, error) {
	was := held(z)
	stays := was && change.Held == nil || change.Held != nil && *change.Held
	if stays && (change.AlsoNotify != nil || change.AllowTransfer != nil) {
		return z, invalid(
			"held: a held zone is neither notified of nor transferred; set alsoNotify and allowTransfer with held false")
	}
	if was && !stays {
		z.AllowQuery, z.AllowTransfer = nil, nil
	}
	if err := b.lists(&z, zoneLists{change.AlsoNotify, change.AllowTransfer, change.AllowUpdate,
		change.Primaries}); err != nil {
		return z, err
	}
	if change.DNSSECPolicy != nil {
		if *change.DNSSECPolicy != "" {
			if err := identifier("DNSSEC policy", *change.DNSSECPolicy); err != nil {
				return z, err
			}
		}
		z.DNSSECPolicy = *change.DNSSECPolicy
		signInPlace(&z)
	}
	if stays {
		if err := hold(&z); err != nil {
			return z, err
		}
	}
	return z, nil
}

// An ownList is keys of ours for which there is an acl statement: with that in a zone's configuration a key may be
// followed by another.
type ownList struct {
	name string
	keys []bind9.Key // the one in use first
}

func (l ownList) has(key string) bool {
	return slices.ContainsFunc(l.keys, func(k bind9.Key) bool { return strings.EqualFold(k.Name, key) })
}

func (b *bind) ownLists() ([]ownList, error) {
	if b.settings.UpdateACL == "" {
		return nil, nil
	}
	update, err := b.settings.Keys.current()
	if err != nil {
		return nil, internal("reading our keys", err)
	}
	transfer, err := b.settings.Keys.transfer()
	if err != nil {
		return nil, internal("reading the keys for transfers", err)
	}
	return []ownList{{b.settings.UpdateACL, update}, {bind9.TransferList, transfer}}, nil
}

// acl reads an address match list; none where it is empty. One of our own keys stands for all of its list.
func (b *bind) acl(field string, entries []string) (bind9.ACL, error) {
	if len(entries) == 0 {
		return nil, nil
	}
	list, err := bind9.ParseACL(field, entries)
	if err != nil {
		return nil, invalid("%v", err)
	}
	own, err := b.ownLists()
	if err != nil {
		return nil, err
	}
	for i, e := range list {
		key, isKey := strings.CutPrefix(e.String(), `key "`)
		of := slices.IndexFunc(own, func(l ownList) bool { return l.has(strings.TrimSuffix(key, `"`)) })
		if !isKey || of < 0 {
			continue
		}
		if list[i], err = bind9.ListElement(own[of].name); err != nil {
			return nil, invalid("%v", err)
		}
	}
	return list, nil
}

func (s *Server) zoneSettings(_ http.ResponseWriter, r *http.Request) (int, any, error) {
	zone, found, err := s.shown(r)
	if err != nil {
		return 0, nil, err
	}
	own, err := s.ownLists()
	if err != nil {
		return 0, nil, err
	}
	z := ZoneSettings{
		ZoneType: string(found.Type), Own: found.File == s.store.file(zone), Held: held(found),
		DNSSECPolicy: found.DNSSECPolicy,
		AlsoNotify:   remoteTexts(found.AlsoNotify), Primaries: remoteTexts(found.Primaries),
		AllowTransfer: entries(found.AllowTransfer, own), AllowUpdate: entries(found.AllowUpdate, own),
	}
	return http.StatusOK, z, nil
}

// entries writes a list as callers do: for a list of our own keys the one in use.
func entries(list bind9.ACL, own []ownList) []string {
	all := []string{}
	for _, text := range list.Strings() {
		text = strings.ReplaceAll(text, `"`, "")
		of := slices.IndexFunc(own, func(l ownList) bool { return l.name == text && len(l.keys) > 0 })
		switch network, err := netip.ParsePrefix(text); {
		case of >= 0:
			text = "key " + own[of].keys[0].Name
		case err == nil && network.IsSingleIP():
			text = network.Addr().String()
		}
		all = append(all, text)
	}
	return all
}

// remoteTexts writes servers as callers do.
func remoteTexts(remotes []bind9.Remote) []string {
	all := []string{}
	for _, r := range remotes {
		text := r.Address.String()
		if r.Port != 0 {
			text = netip.AddrPortFrom(r.Address, r.Port).String()
		}
		if r.Key != "" {
			text += " key " + r.Key
		}
		all = append(all, text)
	}
	return all
}
