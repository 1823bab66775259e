package main

import (
	"context"
	"fmt"
	"time"

	"github.com/miekg/dns"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/internal/rr"
)

// between is the pause before each change: the status of the one before is written by then.
const between = 200 * time.Millisecond

func recordName(i int) string { return fmt.Sprintf("r-%06d", i) }

func fqdn(i int) string { return recordName(i) + "." + domain + "." }

func record(i int) *v1alpha1.DNSRecord {
	return &v1alpha1.DNSRecord{
		ObjectMeta: metav1.ObjectMeta{Name: recordName(i), Namespace: namespace},
		Spec: v1alpha1.DNSRecordSpec{
			Type: "A", Domain: domain, Subdomain: recordName(i), Values: []string{figures.Address(i)}, DNSClassRef: v1alpha1.DNSClassRef{Name: className},
		},
	}
}

func (r *rig) create(ctx context.Context, n int) (time.Duration, error) {
	began := time.Now()
	err := figures.Each(ctx, r.o.workers, n, func(ctx context.Context, i int) error { return r.kube.Create(ctx, record(i)) })
	return time.Since(began), err
}

func (r *rig) remove(ctx context.Context, n int) error {
	return figures.Each(ctx, r.o.workers, n, func(ctx context.Context, i int) error { return r.kube.Delete(ctx, record(i)) })
}

// createsAlone creates the objects without an operator and deletes them again. A first few have caches, connections and etcd's file
// grow before.
func (r *rig) createsAlone(ctx context.Context) (time.Duration, error) {
	warm := min(r.o.n, 1000)
	if _, err := r.create(ctx, warm); err != nil {
		return 0, err
	}
	if err := r.remove(ctx, warm); err != nil {
		return 0, err
	}
	took, err := r.create(ctx, r.o.n)
	if err != nil {
		return 0, err
	}
	return took, r.remove(ctx, r.o.n)
}

// loaded creates the objects with the operator running, and waits for all that comes of it.
func (r *rig) loaded(ctx context.Context, out *result) error {
	before, err := r.usage(ctx)
	if err != nil {
		return err
	}
	began := time.Now()
	if out.during, err = r.create(ctx, r.o.n); err != nil {
		return err
	}
	if err := r.awaitServed(ctx); err != nil {
		return err
	}
	out.served = time.Since(began)
	if err := r.awaitStatus(ctx); err != nil {
		return err
	}
	out.status = time.Since(began)
	after, err := r.usage(ctx)
	out.used = after.since(before)
	return err
}

// awaitServed waits until BIND has every record, by transfers.
func (r *rig) awaitServed(ctx context.Context) error {
	left := r.o.n
	err := r.until(ctx, func() (_ bool, err error) {
		left, err = r.missing(ctx)
		return left == 0 && err == nil, err
	})
	if err != nil {
		return fmt.Errorf("waiting for %d records that BIND does not have: %w", left, err)
	}
	return nil
}

// missing counts the records that BIND does not have.
func (r *rig) missing(ctx context.Context) (int, error) {
	sets, err := r.bind.Transfer(ctx, r.zone)
	if err != nil {
		return r.o.n, err
	}
	found := map[string]string{}
	for _, s := range sets {
		if s.Type == rr.Type(dns.TypeA) {
			found[s.Name.String()] = s.Data[0]
		}
	}
	missing := 0
	for i := range r.o.n {
		if found[fqdn(i)] != figures.Address(i) {
			missing++
		}
	}
	return missing, nil
}

// awaitStatus waits until each object says that it is ready. They are read when the operator has made as many writes as that takes at
// least: to read them costs time that is to be measured.
func (r *rig) awaitStatus(ctx context.Context) error {
	left := r.o.n
	err := r.until(ctx, func() (bool, error) {
		m, err := r.operator.Metrics(writes)
		if err != nil || figures.Sum(m, writes) < float64(r.o.n) {
			return false, err
		}
		left, err = r.unfinished(ctx)
		return left == 0, err
	})
	if err != nil {
		return fmt.Errorf("waiting for %d DNSRecords that are not ready: %w", left, err)
	}
	return nil
}

func (r *rig) unfinished(ctx context.Context) (int, error) {
	var list v1alpha1.DNSRecordList
	if err := r.kube.List(ctx, &list, client.InNamespace(namespace)); err != nil {
		return r.o.n, err
	}
	left := r.o.n - len(list.Items)
	for i := range list.Items {
		if o := &list.Items[i]; !figures.Ready(o.Status.Conditions, o.Generation) {
			left++
		}
	}
	return left, nil
}

// unload deletes everything while the operator runs, and waits until it has let all of it go.
func (r *rig) unload(ctx context.Context) error {
	if err := r.remove(ctx, r.o.n); err != nil {
		return err
	}
	return r.until(ctx, func() (bool, error) {
		var list v1alpha1.DNSRecordList
		err := r.kube.List(ctx, &list, client.InNamespace(namespace), client.Limit(1))
		return err == nil && len(list.Items) == 0, err
	})
}

// singleChanges measures from the beginning of a write to the API server until BIND answers with what was written.
func (r *rig) singleChanges(ctx context.Context) (out figures.Times, err error) {
	conn, err := dns.DialTimeout("udp", r.bind.Addr(), time.Second)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	for i := range r.o.changes {
		if err := figures.Pause(ctx, between); err != nil {
			return nil, err
		}
		which, to := i*7919%r.o.n, figures.NewAddress(i)
		began := time.Now()
		body := fmt.Appendf(nil, `{"spec":{"values":[%q]}}`, to)
		if err := r.kube.Patch(ctx, record(which), client.RawPatch("application/merge-patch+json", body)); err != nil {
			return nil, err
		}
		if err := await(ctx, conn, fqdn(which), to); err != nil {
			return nil, err
		}
		out = append(out, time.Since(began))
	}
	return out, nil
}

// await asks until a name has one address, the wanted one, with a pause of a millisecond after each answer, so that asking does not
// take the time of those that work.
func await(ctx context.Context, conn *dns.Conn, name, want string) error {
	asker := dns.Client{Timeout: 2 * time.Second}
	for began := time.Now(); ; {
		answer, _, err := asker.ExchangeWithConn(new(dns.Msg).SetQuestion(name, dns.TypeA), conn)
		if err == nil && len(answer.Answer) == 1 {
			if found, ok := answer.Answer[0].(*dns.A); ok && found.A.String() == want {
				return nil
			}
		}
		if time.Since(began) > 3*time.Minute {
			return fmt.Errorf("BIND still does not answer %s for %s: %v %w", want, name, answer, err)
		}
		if err := figures.Pause(ctx, time.Millisecond); err != nil {
			return err
		}
	}
}
