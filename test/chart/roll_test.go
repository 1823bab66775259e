package chart_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/zonefold/zonefold/internal/nameserver"
	"github.com/zonefold/zonefold/internal/testcluster"
	"github.com/zonefold/zonefold/internal/testoperator"
)

// A roll is the Pods of the chart's Deployment, which replace each other, as processes.
type roll struct {
	*site
	role string // kubeconfig
	log  testoperator.Journal
	pods []*pod
	own  *answers // of the operator's own name servers
}

// A pod is one operator with its name server.
type pod struct {
	*nameserver.Server
	op *testoperator.Process
}

// newRoll has the rights of an installed chart.
func newRoll(s *site, own *answers) *roll {
	role, err := s.cluster.KubeconfigFor(s.ctx, namespace, testoperator.ServiceAccount)
	if err != nil {
		s.t.Fatal(err)
	}
	r := &roll{site: s, role: role, own: own}
	s.t.Cleanup(func() {
		for _, p := range r.pods {
			p.op.Kill()
		}
		text := r.log.String()
		if strings.Contains(text, "is forbidden: ") {
			s.t.Error("an operator lacks a right")
		}
		if s.t.Failed() {
			s.t.Logf("the operators' log ends:\n%s", text[max(0, len(text)-6000):])
		}
	})
	return r
}

// flags are those of the Deployment, but the addresses to listen at.
func (r *roll) flags() []string {
	r.t.Helper()
	var flags []string
	text := r.kubectl("get", "deployment/zonefold-operator", "-n", namespace, "-o",
		"jsonpath={.spec.template.spec.containers[0].args}")
	if err := json.Unmarshal([]byte(text), &flags); err != nil || len(flags) == 0 {
		r.t.Fatalf("the Deployment has the flags %q: %v", text, err)
	}
	return slices.DeleteFunc(flags, func(f string) bool { return strings.Contains(f, "-bind-address=") })
}

// add starts an operator, and has the Service lead to it as soon as it is ready.
func (r *roll) add(program string) {
	r.t.Helper()
	number, release, err := nameserver.ClaimPort()
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(release)
	op, err := testoperator.Start(testoperator.Options{Path: program, Kubeconfig: r.role, Log: &r.log,
		Args: append(r.flags(), fmt.Sprintf("--dns-bind-address=127.0.0.1:%d", number))})
	if err != nil {
		r.t.Fatal(err)
	}
	p := &pod{nameserver.At(number), op}
	r.pods = append(r.pods, p)
	r.eventually("the operator at "+p.Addr(), func() string {
		if !op.Ready() {
			return "it is not ready"
		}
		return ""
	})
	r.own.lead(r.pods)
}

// end takes a pod out of the Service, and ends it in order.
func (r *roll) end(p *pod) {
	r.pods = slices.DeleteFunc(r.pods, func(other *pod) bool { return other == p })
	r.own.lead(r.pods)
	p.op.Stop()
}

// replace has a program take the place of all pods, one after the other, the leader first or last.
func (r *roll) replace(program string, leaderFirst bool) {
	r.t.Helper()
	old := slices.Clone(r.pods)
	if leader := r.leader(); (old[0] == leader) != leaderFirst {
		slices.Reverse(old)
	}
	for _, p := range old {
		r.add(program)
		r.end(p)
	}
}

// leader waits for a pod that leads.
func (r *roll) leader() (leader *pod) {
	r.t.Helper()
	r.eventually("a leader", func() string {
		holder := r.kubectl("get", "lease/zonefold-operator", "-n", namespace, "--ignore-not-found", "-o",
			"jsonpath={.spec.holderIdentity}")
		for _, p := range r.pods {
			if strings.HasPrefix(holder, p.Addr()+"_") {
				leader = p
				return ""
			}
		}
		return "the Lease is of " + holder
	})
	return leader
}

func (s *site) eventually(what string, check func() string) {
	s.t.Helper()
	testcluster.Eventually(s.ctx, s.t, what, check)
}

// answers are what name servers are to say to each question, such as "www.example.org. A".
type answers struct {
	want map[string]string

	mu  sync.Mutex
	at  []string // all of them are asked
	how dns.Client
}

// lead has these servers asked from now on, and not one that was asked before.
func (a *answers) lead(pods []*pod) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at = nil
	for _, p := range pods {
		a.at = append(a.at, p.Addr())
	}
}

// wrong asks every server every question, and says what is answered otherwise.
func (a *answers) wrong() (asked int, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for question, want := range a.want {
		for _, at := range a.at {
			asked++
			if got := ask(&a.how, at, question); got != want {
				err = errors.Join(err, fmt.Errorf("%s answers %s with %s, not %s", at, question, got, want))
			}
		}
	}
	return asked, err
}

// ask returns the data that a server has, or what is the matter.
func ask(c *dns.Client, at, question string) string {
	name, kind, _ := strings.Cut(question, " ")
	m, _, err := c.Exchange(new(dns.Msg).SetQuestion(name, dns.StringToType[kind]), at)
	if err != nil {
		return err.Error()
	}
	if len(m.Answer) == 0 {
		return dns.RcodeToString[m.Rcode]
	}
	var out []string
	for _, record := range m.Answer {
		out = append(out, strings.TrimPrefix(record.String(), record.Header().String()))
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// A resolver asks all the time.
type resolver struct {
	asked int
	wrong []error
}

// resolve asks until the function that it returns is called, which complains of every wrong answer.
func resolve(t *testing.T, all ...*answers) (end func()) {
	t.Helper()
	var r resolver
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for tick := time.NewTicker(20 * time.Millisecond); ; {
			for _, a := range all {
				n, err := a.wrong()
				if r.asked += n; err != nil {
					r.wrong = append(r.wrong, fmt.Errorf("%s: %w", time.Now().Format(time.TimeOnly), err))
				}
			}
			select {
			case <-stop:
				tick.Stop()
				return
			case <-tick.C:
			}
		}
	}()
	return sync.OnceFunc(func() {
		close(stop)
		<-done
		t.Logf("the resolver has asked %d questions", r.asked)
		if len(r.wrong) > 0 || r.asked < 100 {
			t.Errorf("of %d answers some are lost or wrong, in %d rounds, such as %v", r.asked, len(r.wrong),
				errors.Join(r.wrong[:min(3, len(r.wrong))]...))
		}
	})
}
