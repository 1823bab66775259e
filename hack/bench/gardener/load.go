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
	"github.com/zonefold/zonefold/hack/bench/rig"
	"github.com/zonefold/zonefold/internal/rr"
)

// between is the pause before each single change: the status of the one before is written by then.
const between = 100 * time.Millisecond

func recordName(i int) string { return fmt.Sprintf("r-%06d", i) }

// fqdn is in the one zone of the account without a limit, or in turn in one of those of the other.
func (b *bench) fqdn(account string, i int) string {
	if account == free {
		return recordName(i) + "." + domain
	}
	return recordName(i) + "." + b.zoneName(i%b.o.zones)
}

func (b *bench) zoneName(i int) string { return fmt.Sprintf("z%d.%s", i, domain) }

// address is that of a record after so many changes.
func address(i, changes int) string { return figures.Address(i + changes<<20) }

func (b *bench) record(account string, i int) *v1alpha1.DNSRecord {
	o := &v1alpha1.DNSRecord{
		ObjectMeta: metav1.ObjectMeta{Name: recordName(i), Namespace: account, Annotations: request()},
		Spec: v1alpha1.DNSRecordSpec{
			Type: "powerdns", Name: b.fqdn(account, i), RecordType: "A", Values: []string{address(i, 0)},
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
	return map[string]string{v1alpha1.OperationAnnotation: v1alpha1.OperationReconcile,
		"gardener.cloud/timestamp": time.Now().UTC().Format(time.RFC3339Nano)}
}

// inTurn are the objects of some accounts, and how many these are.
func (b *bench) inTurn(accounts ...string) (int, func(int) client.Object) {
	return b.half() * len(accounts), func(i int) client.Object {
		return b.record(accounts[i%len(accounts)], i/len(accounts))
	}
}

// create makes the objects of some accounts, in turn.
func (b *bench) create(ctx context.Context, accounts ...string) error {
	n, object := b.inTurn(accounts...)
	_, err := b.Create(ctx, n, object)
	return err
}

// change gives every object of an account another address, as gardenlet does.
func (b *bench) change(ctx context.Context, account string, changes int) error {
	_, err := b.Each(ctx, b.half(), func(ctx context.Context, i int) error {
		return b.patch(ctx, account, i, address(i, changes))
	})
	return err
}

func (b *bench) patch(ctx context.Context, account string, i int, to string) error {
	body, err := json.Marshal(map[string]any{"metadata": map[string]any{"annotations": request()}, "spec": map[string]any{
		"values": []string{to}}})
	if err != nil {
		return err
	}
	return b.Kube.Patch(ctx, b.record(account, i), client.RawPatch("application/merge-patch+json", body))
}

// awaitDone waits until every object of an account says that what was asked for last is done. They are read when the
// last one is: to read them costs time that is to be measured.
func (b *bench) awaitDone(ctx context.Context, account string) error {
	left, failed := b.half(), ""
	err := b.Until(ctx, patience, func() (bool, error) {
		var last v1alpha1.DNSRecord
		err := b.Kube.Get(ctx, client.ObjectKeyFromObject(b.record(account, b.half()-1)), &last)
		if err != nil || !done(&last) && last.Status.LastError == nil {
			return false, err
		}
		var list v1alpha1.DNSRecordList
		if err := b.Kube.List(ctx, &list, client.InNamespace(account)); err != nil {
			return false, err
		}
		left = b.half() - len(list.Items)
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
		return false, figures.Pause(ctx, 500*time.Millisecond)
	})
	if err != nil {
		return fmt.Errorf("waiting for %d DNSRecords of the account %s (%s): %w", left, account, failed, err)
	}
	return nil
}

func done(o *v1alpha1.DNSRecord) bool {
	last := o.Status.LastOperation
	return last != nil && last.State == v1alpha1.StateSucceeded && o.Status.LastError == nil &&
		o.Status.ObservedGeneration == o.Generation &&
		o.Annotations[v1alpha1.OperationAnnotation] == ""
}

// remove deletes the objects of some accounts, in turn, and waits until the operator has let all of them go.
func (b *bench) remove(ctx context.Context, accounts ...string) error {
	n, object := b.inTurn(accounts...)
	if err := b.Remove(ctx, n, object); err != nil {
		return err
	}
	return b.Until(ctx, patience, func() (bool, error) {
		var list v1alpha1.DNSRecordList
		err := b.Kube.List(ctx, &list, client.Limit(1))
		return err == nil && len(list.Items) == 0, err
	})
}

// singleChanges measures from the beginning of a write to the API server until PowerDNS answers with what was written.
func (b *bench) singleChanges(ctx context.Context) (figures.Times, error) {
	asker, err := rig.NewAsker("PowerDNS", b.powerdns.Addr())
	if err != nil {
		return nil, err
	}
	defer asker.Close()
	return asker.Time(ctx, b.o.changes, between, func(i int) rig.Change {
		b.changed++
		which, to := i%b.half(), figures.NewAddress(b.changed)
		b.single[which] = to
		return rig.Change{Name: b.fqdn(free, which) + ".", To: to, Write: func(ctx context.Context) error {
			return b.patch(ctx, free, which, to)
		}}
	})
}

// served is what both services have: addresses by account and name.
func (b *bench) served(ctx context.Context) (map[string]string, error) {
	found := map[string]string{}
	sets, err := b.powerdns.Transfer(ctx, b.zone)
	if err != nil {
		return nil, err
	}
	for _, s := range sets {
		if s.Type == rr.Type(dns.TypeA) {
			found[free+" "+strings.TrimSuffix(s.Name.String(), ".")] = strings.Join(s.Data, " ")
		}
	}
	for _, id := range b.zoneIDs {
		sets, _ := b.route53.Sets(id)
		for _, s := range sets {
			if s.Type == "A" {
				found[limited+" "+strings.TrimSuffix(s.Name, ".")] = strings.Join(s.Records, " ")
			}
		}
	}
	return found, nil
}

// compare finds what was lost or is wrong, when those of the account with a limit were changed so often.
func (b *bench) compare(ctx context.Context, changes int) error {
	found, err := b.served(ctx)
	if err != nil {
		return err
	}
	if len(found) != 2*b.half() {
		return fmt.Errorf("the services have %d records, want %d", len(found), 2*b.half())
	}
	for i := range b.half() {
		want := b.single[i]
		if want == "" {
			want = address(i, 0)
		}
		if got := found[free+" "+b.fqdn(free, i)]; got != want {
			return fmt.Errorf("%s is %q, want %q", b.fqdn(free, i), got, want)
		}
		if got := found[limited+" "+b.fqdn(limited, i)]; got != address(i, changes) {
			return fmt.Errorf("%s is %q, want %q", b.fqdn(limited, i), got, address(i, changes))
		}
	}
	return nil
}
