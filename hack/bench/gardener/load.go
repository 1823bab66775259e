package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/miekg/dns"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/gardener/v1alpha1"
	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/internal/rr"
)

// between is the pause before each single change: the status of the one before is written by then.
const between = 100 * time.Millisecond

func recordName(i int) string { return fmt.Sprintf("r-%06d", i) }

// fqdn is in the one zone of the account without a limit, or in turn in one of those of the other.
func (r *rig) fqdn(account string, i int) string {
	if account == free {
		return recordName(i) + "." + domain
	}
	return recordName(i) + "." + r.zoneName(i%r.o.zones)
}

func (r *rig) zoneName(i int) string { return fmt.Sprintf("z%d.%s", i, domain) }

// address is that of a record after so many changes.
func address(i, changes int) string { return figures.Address(i + changes<<20) }

func (r *rig) record(account string, i int) *v1alpha1.DNSRecord {
	o := &v1alpha1.DNSRecord{
		ObjectMeta: metav1.ObjectMeta{Name: recordName(i), Namespace: account, Annotations: request()},
		Spec: v1alpha1.DNSRecordSpec{
			Type: "powerdns", Name: r.fqdn(account, i), RecordType: "A", Values: []string{address(i, 0)},
			SecretRef: v1alpha1.SecretReference{Name: "credentials"},
		},
	}
	if account == limited {
		o.Spec.Type = "aws-route53"
	}
	return o
}

// request is how gardenlet has an operator work at an object.
func request() map[string]string {
	return map[string]string{v1alpha1.OperationAnnotation: v1alpha1.OperationReconcile, "gardener.cloud/timestamp": time.Now().UTC().Format(time.RFC3339Nano)}
}

// create makes the objects of some accounts, in turn.
func (r *rig) create(ctx context.Context, accounts ...string) error {
	return r.each(ctx, accounts, func(ctx context.Context, account string, i int) error {
		return r.kube.Create(ctx, r.record(account, i))
	})
}

func (r *rig) each(ctx context.Context, accounts []string, f func(ctx context.Context, account string, i int) error) error {
	return figures.Each(ctx, r.o.workers, r.half()*len(accounts), func(ctx context.Context, i int) error {
		return f(ctx, accounts[i%len(accounts)], i/len(accounts))
	})
}

// change gives every object of an account another address, as gardenlet does.
func (r *rig) change(ctx context.Context, account string, changes int) error {
	return r.each(ctx, []string{account}, func(ctx context.Context, account string, i int) error {
		return r.patch(ctx, account, i, address(i, changes))
	})
}

func (r *rig) patch(ctx context.Context, account string, i int, to string) error {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": request()}, "spec": map[string]any{"values": []string{to}}})
	if err != nil {
		return err
	}
	return r.kube.Patch(ctx, r.record(account, i), client.RawPatch("application/merge-patch+json", body))
}

// awaitDone waits until every object of an account says that what was asked for last is done.
func (r *rig) awaitDone(ctx context.Context, account string) error {
	left, failed := r.half(), ""
	err := r.until(ctx, func() (bool, error) {
		var list v1alpha1.DNSRecordList
		if err := r.kube.List(ctx, &list, client.InNamespace(account)); err != nil {
			return false, err
		}
		left = r.half() - len(list.Items)
		for i := range list.Items {
			o := &list.Items[i]
			if !done(o) {
				left++
			}
			if o.Status.LastError != nil {
				failed = o.Name + ": " + o.Status.LastError.Description
			}
		}
		if left == 0 {
			return true, nil
		}
		return false, figures.Pause(ctx, 500*time.Millisecond) // to read them costs time that is to be measured
	})
	if err != nil {
		return fmt.Errorf("waiting for %d DNSRecords of the account %s (%s): %w", left, account, failed, err)
	}
	return nil
}

func done(o *v1alpha1.DNSRecord) bool {
	last := o.Status.LastOperation
	return last != nil && last.State == v1alpha1.StateSucceeded && o.Status.LastError == nil && o.Status.ObservedGeneration == o.Generation &&
		o.Annotations[v1alpha1.OperationAnnotation] == ""
}

// remove deletes the objects of some accounts, in turn, and waits until the operator has let all of them go.
func (r *rig) remove(ctx context.Context, accounts ...string) error {
	err := r.each(ctx, accounts, func(ctx context.Context, account string, i int) error {
		return r.kube.Delete(ctx, r.record(account, i))
	})
	if err != nil {
		return err
	}
	return r.until(ctx, func() (bool, error) {
		var list v1alpha1.DNSRecordList
		err := r.kube.List(ctx, &list, client.Limit(1))
		return err == nil && len(list.Items) == 0, err
	})
}

// singleChanges measures from the beginning of a write to the API server until PowerDNS answers with what was written.
func (r *rig) singleChanges(ctx context.Context) (out figures.Times, err error) {
	conn, err := dns.DialTimeout("udp", r.powerdns.Addr(), time.Second)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close() }()
	for i := range r.o.changes {
		if err := figures.Pause(ctx, between); err != nil {
			return nil, err
		}
		r.changed++
		which, to := i%r.half(), figures.NewAddress(r.changed)
		began := time.Now()
		if err := r.patch(ctx, free, which, to); err != nil {
			return nil, err
		}
		if err := await(ctx, conn, r.fqdn(free, which)+".", to); err != nil {
			return nil, err
		}
		out = append(out, time.Since(began))
		r.single[which] = to
	}
	return out, nil
}

// await asks until a name has one address, the wanted one.
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
			return fmt.Errorf("PowerDNS still does not answer %s for %s: %v %w", want, name, answer, err)
		}
		if err := figures.Pause(ctx, time.Millisecond); err != nil {
			return err
		}
	}
}

// served is what both services have: addresses by account and name.
func (r *rig) served(ctx context.Context) (map[string]string, error) {
	found := map[string]string{}
	sets, err := r.powerdns.Transfer(ctx, r.zone)
	if err != nil {
		return nil, err
	}
	for _, s := range sets {
		if s.Type == rr.Type(dns.TypeA) {
			found[free+" "+strings.TrimSuffix(s.Name.String(), ".")] = strings.Join(s.Data, " ")
		}
	}
	for _, id := range r.zoneIDs {
		sets, _ := r.route53.Sets(id)
		for _, s := range sets {
			if s.Type == "A" {
				found[limited+" "+strings.TrimSuffix(s.Name, ".")] = strings.Join(s.Records, " ")
			}
		}
	}
	return found, nil
}

// compare finds what was lost or is wrong, when those of the account with a limit were changed so often.
func (r *rig) compare(ctx context.Context, changes int) error {
	found, err := r.served(ctx)
	if err != nil {
		return err
	}
	if len(found) != 2*r.half() {
		return fmt.Errorf("the services have %d records, want %d", len(found), 2*r.half())
	}
	for i := range r.half() {
		want := r.single[i]
		if want == "" {
			want = address(i, 0)
		}
		if got := found[free+" "+r.fqdn(free, i)]; got != want {
			return fmt.Errorf("%s is %q, want %q", r.fqdn(free, i), got, want)
		}
		if got := found[limited+" "+r.fqdn(limited, i)]; got != address(i, changes) {
			return fmt.Errorf("%s is %q, want %q", r.fqdn(limited, i), got, address(i, changes))
		}
	}
	return nil
}
