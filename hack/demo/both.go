package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zonefold/zonefold/internal/dnsname"
	"github.com/zonefold/zonefold/internal/nameserver"
)

// changeBoth changes an address again and measures how long it takes until the operator, and who follows it, answer
// with it.
func (s *stage) changeBoth(ctx context.Context) error {
	s.chapter("The same change again", "Now the operator answers itself, and tells the BIND that follows it, which "+
		"copies what has changed. It tells of a zone",
		"ten times a second at most; the demo changes it less often.")
	send, err := s.sender(ctx, "192.0.2.91")
	if err != nil {
		return err
	}
	zones, err := zoneNames()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	const changes = 5
	var before uint32
	for i := range changes {
		if before, err = s.dns.Serial(ctx, zones[1]); err != nil {
			return err
		}
		rest(ctx)
		if err := s.changeOnce(ctx, send, fmt.Sprintf("192.0.2.%d", 91+i)); err != nil {
			return err
		}
	}
	for _, server := range []*nameserver.Server{s.dns, s.follower} {
		if err := s.dig(ctx, server, question{www, "A", []string{www + " A 192.0.2.95"}}); err != nil {
			return err
		}
	}
	if err := s.showTransfers(ctx, zones[1], changes); err != nil {
		return err
	}
	return s.showIncrement(ctx, zones[1], before)
}

// rest lasts longer than the pause between two notices of one zone.
func rest(ctx context.Context) {
	timer := time.NewTimer(200 * time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// changeOnce sends one change.
func (s *stage) changeOnce(ctx context.Context, send func(context.Context, string) error, address string) error {
	began := time.Now()
	if err := send(ctx, address); err != nil {
		return err
	}
	if err := answers(ctx, s.dns, address); err != nil {
		return err
	}
	own := milliseconds(began)
	if err := answers(ctx, s.follower, address); err != nil {
		return err
	}
	s.say("  zonefold answers with %s after %.1f milliseconds, the BIND that follows it after %.1f", address, own,
		milliseconds(began))
	return nil
}

// showTransfers says how the BIND that follows came by a zone.
func (s *stage) showTransfers(ctx context.Context, zone dnsname.Name, changes int) error {
	want := nameserver.Transfers{Whole: 1, Changes: changes}
	err := s.until(ctx, func() error {
		got, err := s.follower.Transfers(ctx, zone)
		if err == nil && got != want {
			err = fmt.Errorf("the BIND that follows has logged %+v transfers of %s and not %+v", got, zone, want)
		}
		return err
	})
	if err != nil {
		return err
	}
	s.say("Its log says that it has got %s as a whole once (AXFR), and %d times only what changed (IXFR).", zone, changes)
	return nil
}

// showIncrement transfers the last change by hand, and tries without the key.
func (s *stage) showIncrement(ctx context.Context, zone dnsname.Name, before uint32) error {
	now, err := s.dns.Serial(ctx, zone)
	if err != nil {
		return err
	}
	s.say("The last change as it went over the wire, and the answer to a client without a key:")
	key, err := s.file("follower.key", fmt.Sprintf("key %q { algorithm hmac-sha256; secret %q; };\n", followerKey,
		s.followerSecret))
	if err != nil {
		return err
	}
	ask := []string{zone.String(), fmt.Sprintf("IXFR=%d", before)}
	out, err := s.runDig(ctx, s.dns, append([]string{"-k", key}, ask...)...)
	if err != nil {
		return err
	}
	var got []string
	for _, record := range records(out) {
		if f := strings.Fields(record); f[1] == "SOA" && len(f) > 4 {
			record = "serial " + f[4]
		}
		got = append(got, record)
	}
	from, to := fmt.Sprintf("serial %d", before), fmt.Sprintf("serial %d", now)
	if want := []string{to, from, www + " A 192.0.2.94", to, www + " A 192.0.2.95", to}; !slices.Equal(got, want) {
		return fmt.Errorf("the increment is %q and not %q", got, want)
	}
	if out, err = s.runDig(ctx, s.dns, ask...); err != nil {
		return err
	}
	if !strings.Contains(out, "Transfer failed") {
		return fmt.Errorf("without the key, %s is not refused: %s", strings.Join(ask, " "), out)
	}
	return nil
}
