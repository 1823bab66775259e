package soak_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
)

// A key signs transfers.
type key struct{ name, algorithm, secret string }

// transferKey is the one of the fleet. Nobody changes it.
func (f *field) transferKey() key {
	f.Helper()
	var secret corev1.Secret
	if err := f.client.Get(f.ctx, client.ObjectKey{Namespace: namespace, Name: fleet + "-transfer-key"},
		&secret); err != nil {
		f.Fatal(err)
	}
	return key{string(secret.Data["key-name"]), string(secret.Data["algorithm"]), string(secret.Data["secret"])}
}

// transfer copies a zone.
func transfer(at netip.AddrPort, zone string, k key) (content, error) {
	t := &dns.Transfer{DialTimeout: answerWithin, ReadTimeout: 2 * answerWithin,
		TsigSecret: map[string]string{dns.Fqdn(k.name): k.secret}}
	m := new(dns.Msg).SetAxfr(zone)
	m.SetTsig(dns.Fqdn(k.name), dns.Fqdn(k.algorithm), 300, time.Now().Unix())
	envelopes, err := t.In(m, at.String())
	if err != nil {
		return content{}, fmt.Errorf("copying %s from %s: %w", zone, at, err)
	}
	var records []dns.RR
	for e := range envelopes {
		err = errors.Join(err, e.Error)
		records = append(records, e.RR...)
	}
	if err != nil {
		return content{}, fmt.Errorf("copying %s from %s: %w", zone, at, err)
	}
	return contentOf(records)
}

// copyAll copies one zone after the other from one pod after the other until ctx ends.
func (w *witness) copyAll(ctx context.Context, random *rand.Rand, k key) {
	for pause(ctx, time.Duration(random.IntN(200))*time.Millisecond) {
		w.mu.Lock()
		var pods []*target
		for _, t := range w.targets {
			if !t.service {
				pods = append(pods, t)
			}
		}
		w.mu.Unlock()
		if len(pods) == 0 {
			continue
		}
		t, zone := pods[random.IntN(len(pods))], zones[random.IntN(len(zones))]
		t.order.Lock()
		c, err := transfer(t.at, zone, k)
		if err == nil && ctx.Err() == nil { // else it is away, or does not have the zone yet
			w.copied(t, zone, c)
		}
		t.order.Unlock()
	}
}

// copied judges a whole zone.
func (w *witness) copied(t *target, zone string, c content) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.copies++
	w.serial(t, zone, c.serial)
	name := fmt.Sprint(zone, " ", c.serial)
	if before, ok := w.said[name]; ok && before != c.String() {
		w.lie("%s: serial %d of %s has another content than before:\n%s", t.name, c.serial, zone,
			differences(c.String(), before))
	}
	w.said[name] = c.String()
	for _, q := range w.model.questions(zone) {
		if _, ok := c.sets[q]; !ok {
			w.history(t, q, nothing)
		}
	}
	for q, data := range c.sets {
		w.history(t, q, data)
	}
}

// questions are those of a zone that something was ever wanted of.
func (m *model) questions(zone string) (out []question) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for q := range m.history {
		if dns.IsSubDomain(zone, q.name) {
			out = append(out, q)
		}
	}
	return out
}

// alike complains unless every server has exactly what is wanted, under the same serial, which is none from before.
func (w *witness) alike(ctx context.Context, k key) error {
	pods, err := w.field.pods(ctx, namespace)
	if err != nil {
		return err
	}
	if len(pods) != servers {
		return fmt.Errorf("there are %d pods", len(pods))
	}
	for _, zone := range zones {
		var serials []string
		for _, p := range pods {
			at, err := netip.ParseAddr(p.Status.PodIP)
			if err != nil {
				return fmt.Errorf("%s: %w", p.Name, err)
			}
			c, err := transfer(netip.AddrPortFrom(at, podPort), zone, k)
			if err != nil {
				return fmt.Errorf("%s (%s): %w", p.Name, p.Labels[v1beta1.InstanceLabel], err)
			}
			if wanted := w.model.whole(zone); c.String() != wanted {
				return fmt.Errorf("%s has another content of %s, under serial %d, than what is wanted:\n%s", p.Name, zone, c.serial,
					differences(c.String(), wanted))
			}
			w.mu.Lock()
			highest := w.highest[zone]
			w.mu.Unlock()
			if int32(c.serial-highest) < 0 {
				return fmt.Errorf("%s has %s under serial %d, and there was %d", p.Name, zone, c.serial, highest)
			}
			if text := fmt.Sprint(c.serial); len(serials) == 0 || serials[0] != text {
				serials = append(serials, text)
			}
		}
		if len(serials) != 1 {
			return fmt.Errorf("the servers have %s under the serials %s", zone, strings.Join(serials, ", "))
		}
	}
	return nil
}
