package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/miekg/dns"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/hack/bench/figures"
)

// between is the pause before each change: the statuses of the one before are written by then.
const between = 200 * time.Millisecond

// changeTimes say how long changes took, from the beginning of a write to the API server.
type changeTimes struct {
	first, primaries, all figures.Times // until the first server has it, until all primaries do, until every server does
}

// A change is a record and its new address.
type change struct {
	which    int
	name, to string
}

// change is the i-th of all changes; they are spread over the zones.
func (l load) change(i int) change {
	which := i * 7919 % (l.zones * l.records)
	return change{which, l.fqdn(which), figures.NewAddress(i)}
}

func (r *rig) patch(ctx context.Context, l load, c change) error {
	body := fmt.Appendf(nil, `{"spec":{"ipv4":%q}}`, c.to)
	return r.kube.Patch(ctx, l.record(c.which), client.RawPatch("application/merge-patch+json", body))
}

// watchers ask every server at the same time.
type watchers []*asker

func (r *rig) watchers() (w watchers, err error) {
	for _, s := range r.servers {
		a, err := s.asker()
		if err != nil {
			return w, err
		}
		w = append(w, a)
	}
	return w, nil
}

func (w watchers) close() {
	for _, a := range w {
		a.close()
	}
}

// await notes how long it takes until servers have a change.
func (w watchers) await(ctx context.Context, c change, began time.Time, into *changeTimes) error {
	at, errs := make([]time.Duration, len(w)), make([]error, len(w))
	var all sync.WaitGroup
	for i, a := range w {
		all.Go(func() {
			errs[i] = a.await(ctx, c.name, c.to)
			at[i] = time.Since(began)
		})
	}
	all.Wait()
	first, primaries, last := at[0], time.Duration(0), time.Duration(0)
	for i, a := range w {
		first, last = min(first, at[i]), max(last, at[i])
		if a.at.primary {
			primaries = max(primaries, at[i])
		}
	}
	into.first, into.primaries, into.all = append(into.first, first), append(into.primaries, primaries), append(into.all, last)
	return errors.Join(errs...)
}

// singleChanges measures until all servers answer with what was written.
func (r *rig) singleChanges(ctx context.Context, l load) (out changeTimes, err error) {
	w, err := r.watchers()
	defer w.close()
	for i := 0; i < r.o.changes && err == nil; i++ {
		if err = figures.Pause(ctx, between); err != nil {
			break
		}
		c, began := l.change(i), time.Now()
		if err = r.patch(ctx, l, c); err == nil {
			err = w.await(ctx, c, began, &out)
		}
	}
	return out, errors.Join(err, r.quiet(ctx))
}

// floor measures the least that any controller has to do: the write, the event of it, one signed UPDATE for each primary over kept
// connections, which then tells the secondaries, and the query. The operator is stopped.
func (r *rig) floor(ctx context.Context, l load) (out changeTimes, err error) {
	w, err := r.watchers()
	defer w.close()
	if err != nil {
		return out, err
	}
	var updaters []*updater
	for _, s := range r.servers {
		if s.primary {
			u, err := r.updater(s)
			if err != nil {
				return out, err
			}
			defer u.conn.Close()
			updaters = append(updaters, u)
		}
	}
	events, err := r.watchFromNow(ctx)
	if err != nil {
		return out, err
	}
	defer events.Stop()
	for i := range r.o.changes {
		if err := figures.Pause(ctx, between); err != nil {
			return out, err
		}
		c := l.change(i)
		c.to = figures.NewAddress(r.o.changes + i)
		written := make(chan error, 1)
		began := time.Now()
		go func() { written <- r.patch(ctx, l, c) }()
		if err := awaitEvent(ctx, events, c.to); err != nil {
			return out, err
		}
		if err := changeAll(updaters, l.zoneName(c.which/l.records)+".", c); err != nil {
			return out, err
		}
		if err := errors.Join(w.await(ctx, c, began, &out), <-written); err != nil {
			return out, err
		}
	}
	return out, nil
}

func (r *rig) watchFromNow(ctx context.Context) (watch.Interface, error) {
	var list v1beta1.ARecordList
	if err := r.kube.List(ctx, &list, client.InNamespace(namespace), client.Limit(1)); err != nil {
		return nil, err
	}
	return r.kube.Watch(ctx, &list, client.InNamespace(namespace), &client.ListOptions{Raw: &metav1.ListOptions{ResourceVersion: list.ResourceVersion}})
}

func awaitEvent(ctx context.Context, events watch.Interface, to string) error {
	for {
		select {
		case e, ok := <-events.ResultChan():
			o, is := e.Object.(*v1beta1.ARecord)
			if !ok || !is {
				return fmt.Errorf("the watch of the ARecords ended: %v", e.Object)
			}
			if o.Spec.IPv4 == to {
				return nil
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// An updater changes addresses by signed UPDATE messages over one TCP connection.
type updater struct {
	conn      net.Conn
	key       string
	algorithm string
	secret    string
}

func (r *rig) updater(s *server) (*updater, error) {
	k := r.keys.update[s.instance]
	conn, err := net.DialTimeout("tcp", s.dns(), time.Second)
	return &updater{conn, k.Name + ".", string(k.Algorithm) + ".", k.Secret}, err
}

func changeAll(updaters []*updater, zone string, c change) error {
	errs := make([]error, len(updaters))
	var all sync.WaitGroup
	for i, u := range updaters {
		all.Go(func() { errs[i] = u.change(zone, c) })
	}
	all.Wait()
	return errors.Join(errs...)
}

func (u *updater) change(zone string, c change) error {
	m := new(dns.Msg).SetUpdate(zone)
	record, err := dns.NewRR(c.name + " 300 IN A " + c.to)
	if err != nil {
		return err
	}
	m.RemoveRRset([]dns.RR{record})
	m.Insert([]dns.RR{record})
	m.SetTsig(u.key, u.algorithm, 300, time.Now().Unix())
	// A dns.Conn remembers the last signature, so each message has its own on the same connection.
	client := dns.Client{Net: "tcp", Timeout: 5 * time.Second, TsigSecret: map[string]string{u.key: u.secret}}
	answer, _, err := client.ExchangeWithConn(m, &dns.Conn{Conn: u.conn, TsigSecret: client.TsigSecret})
	if err != nil {
		return fmt.Errorf("updating %s: %w", c.name, err)
	}
	if answer.Rcode != dns.RcodeSuccess {
		return fmt.Errorf("updating %s: %s", c.name, dns.RcodeToString[answer.Rcode])
	}
	return nil
}
