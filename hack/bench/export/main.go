// Export measures zonefold export of DNSZones that are not frozen: of a small one and of a large one beside it, on a
// real API server that has the objects of both.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os/exec"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	"github.com/zonefold/zonefold/hack/bench/figures"
	"github.com/zonefold/zonefold/hack/bench/rig"
	"github.com/zonefold/zonefold/internal/backend/engine"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/testoperator"
	"github.com/zonefold/zonefold/internal/zone"
)

func main() {
	var o rig.Options
	rig.Main("export", &o, &bench{})
}

// A bench exports two zones.
type bench struct {
	n, small int
}

// Flags defines flags.
func (b *bench) Flags(f *flag.FlagSet) {
	f.IntVar(&b.n, "n", 100000, "ARecords of the large zone")
	f.IntVar(&b.small, "small", 1000, "ARecords of the small zone")
}

// Check checks them.
func (b *bench) Check() (need string, ok bool) {
	return "-n and -small of at least 1", b.n > 0 && b.small > 0
}

// A side is a zone with its records, in a namespace of its own.
type side struct {
	name string
	n    int
}

func (s side) zone() *v1beta1.DNSZone {
	z := &v1beta1.DNSZone{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: s.name}}
	z.Spec.ZoneName = s.name + ".example"
	z.Spec.SOA = &v1beta1.SOA{PrimaryNameServer: "ns.example.net", AdminEmail: "admin@example.net"}
	z.Spec.RecordsFrom = []v1beta1.Selection{{Selector: metav1.LabelSelector{
		MatchLabels: map[string]string{"of": s.name}}}}
	return z
}

func (s side) record(i int) client.Object {
	r := &v1beta1.ARecord{ObjectMeta: metav1.ObjectMeta{Namespace: s.name, Name: fmt.Sprint("host-", i),
		Labels: map[string]string{"of": s.name}}}
	r.Spec.Name = v1beta1.RecordName(r.Name)
	r.Spec.IPv4Addresses = []string{fmt.Sprintf("192.0.%d.%d", i/250%250, i%250)}
	return r
}

// publish writes down that the content of the zone is what the objects say, as the operator does.
func (s side) publish(ctx context.Context, r *rig.Rig) error {
	world, homes := zone.New(zone.Options{}), dialect.NewHomes()
	z := s.zone()
	homes.PutZone(z)
	converted := dialect.ConvertZone(z, nil)
	world.PutZone(converted)
	for i := range s.n {
		record, ok := dialect.RecordOf(s.record(i))
		if !ok {
			return errors.New("an ARecord is no record")
		}
		homes.PutRecord(record)
		world.PutClaim(dialect.ConvertRecord(record, homes.Of(record.ID)))
	}
	world.Settle()
	content, ok := world.Snapshot(converted.ID)
	if !ok {
		return fmt.Errorf("%s is not accepted", converted.ID)
	}
	return r.MergeStatus(ctx, z, map[string]any{"serial": 1,
		"content": engine.Content{SOA: content.SOA, Hash: content.Hash}.ID()})
}

// Run measures and prints.
func (b *bench) Run(ctx context.Context, r *rig.Rig, out io.Writer) error {
	if err := r.Start(ctx, v1beta1.AddToScheme, corev1.AddToScheme); err != nil {
		return err
	}
	program, err := testoperator.BuildCommand(ctx, r.Dir)
	if err != nil {
		return err
	}
	sides := []side{{"small", b.small}, {"large", b.n}}
	for _, s := range sides {
		if err := s.create(ctx, r); err != nil {
			return err
		}
	}
	load, err := figures.Load()
	if err != nil {
		return err
	}
	fmt.Fprintf(out, "load %s\n", load)
	for _, s := range sides {
		if err := s.export(ctx, r, program, out); err != nil {
			return err
		}
	}
	return nil
}

func (s side) create(ctx context.Context, r *rig.Rig) error {
	if err := r.Kube.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: s.name}}); err != nil {
		return err
	}
	if err := r.Kube.Create(ctx, s.zone()); err != nil {
		return err
	}
	r.Say("creating %d ARecords", s.n)
	took, err := r.Create(ctx, s.n, s.record)
	if err != nil {
		return err
	}
	r.Say("created in %.0f s", took.Seconds())
	return s.publish(ctx, r)
}

// export runs the command, which has to write all records.
func (s side) export(ctx context.Context, r *rig.Rig, program string, out io.Writer) error {
	cmd := exec.CommandContext(ctx, program, "export", s.name+".example", "--kubeconfig", r.Kubeconfig)
	var text, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &text, &said
	began := time.Now()
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	peak, err := peakOf(cmd.Process.Pid, ended)
	if err != nil {
		return fmt.Errorf("zonefold export: %w: %s", err, said.String())
	}
	took := time.Since(began)
	if got := bytes.Count(text.Bytes(), []byte("\nhost-")); got != s.n {
		return fmt.Errorf("%d of %d records are in the output", got, s.n)
	}
	fmt.Fprintf(out, "%d records: %.2f s, %.2f s of CPU, %d MiB\n", s.n, took.Seconds(),
		(cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Seconds(), peak>>20)
	return nil
}

// looksAgain is how often the memory of a program is looked at. What wait(2) tells of it includes that of its parent.
const looksAgain = 10 * time.Millisecond

// peakOf returns the memory that a program has had at most when it ends.
func peakOf(pid int, ended <-chan error) (peak int64, err error) {
	again := time.NewTicker(looksAgain)
	defer again.Stop()
	for {
		select {
		case err := <-ended:
			return peak, err
		case <-again.C:
			if _, most, err := figures.MemoryOf(pid); err == nil { // else it is ending
				peak = max(peak, most)
			}
		}
	}
}
