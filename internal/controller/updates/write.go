package updates

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/controller/objects"
	dialect "github.com/zonefold/zonefold/internal/dialect/kubizone"
	"github.com/zonefold/zonefold/internal/update"
	"github.com/zonefold/zonefold/internal/zone"
)

// foresee returns why a Record that comes would be refused, nil if nothing is known against it: what is not written
// need not be taken back, by an operator that may end before. Where deletions come first nobody can tell, as what they
// delete is in the way.
func (p *plan) foresee(ctx context.Context) error {
	for _, s := range p.steps {
		if p.firsts || s.before != nil {
			continue
		}
		record := s.after.DeepCopy()
		record.CreationTimestamp = metav1.NewTime(p.Clock.Now())
		f, known := p.foresight.Claim(ctx, dialect.ConvertRecord(record))
		if known && !f.Verdict.Accepted {
			return refused(f.Verdict)
		}
	}
	return nil
}

// refused is the answer to who wants a Record that is refused.
func refused(v zone.Verdict) error {
	return &update.Refusal{Rcode: update.Refused, Text: fmt.Sprintf("%s: %s", v.Reason, v.Message)}
}

// write carries the plan out, all of it or nothing: when a Record cannot be written, or is refused, what was done is
// undone. A lenient plan in which Records come alone leaves them.
func (p *plan) write(ctx context.Context) error {
	var ids []zone.ID
	for _, s := range p.steps {
		ids = append(ids, s.id())
	}
	watch := p.Core.Watch(ids...)
	defer watch.End()
	goes := func(s *step) bool { return s.after == nil }
	first := slices.DeleteFunc(slices.Clone(p.steps), func(s *step) bool { return goes(s) != p.firsts })
	second := slices.DeleteFunc(slices.Clone(p.steps), func(s *step) bool { return goes(s) == p.firsts })
	var done []*step
	for _, steps := range [][]*step{first, second} {
		written, err := p.stage(ctx, watch, steps)
		done = append(done, written...)
		if err != nil && p.lenient && !slices.ContainsFunc(p.steps, func(s *step) bool { return s.before != nil }) {
			return err
		}
		if err != nil {
			return p.undo(ctx, done, err)
		}
	}
	return nil
}

// stage carries out some steps, and waits until the World has judged them. It returns those that were written, and
// those of which nobody knows.
func (p *plan) stage(ctx context.Context, watch *core.Watch, steps []*step) (done []*step, err error) {
	want := map[zone.ID]core.Version{}
	var mu sync.Mutex
	err = each(steps, func(s *step) error {
		version, err := p.step(ctx, s)
		mu.Lock()
		defer mu.Unlock()
		if err == nil || unanswered(err) {
			done = append(done, s)
		}
		if version != nil {
			want[s.id()] = *version
		}
		return denied(err)
	})
	if err != nil {
		return done, err
	}
	if err := watch.Settled(ctx, want); err != nil {
		return done, fmt.Errorf("waiting for the Records to be judged: %w", err)
	}
	for _, s := range steps {
		if v, _ := p.Core.Verdict(s.id()); s.after != nil && !v.Accepted {
			return done, refused(v)
		}
	}
	return done, nil
}

// each calls a function for steps: for the first alone, as what forbids one mostly forbids all, and for some of the
// others at a time. After an error, which it returns, none begins.
func each(steps []*step, do func(*step) error) (first error) {
	var mu sync.Mutex
	var all sync.WaitGroup
	slots := make(chan struct{}, writers)
	failed := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return first != nil
	}
	for i, s := range steps {
		slots <- struct{}{}
		if failed() {
			break
		}
		all.Go(func() {
			defer func() { <-slots }()
			if err := do(s); err != nil {
				mu.Lock()
				defer mu.Unlock()
				first = cmp.Or(first, err)
			}
		})
		if i == 0 {
			all.Wait()
		}
	}
	all.Wait()
	return first
}

// unanswered reports whether an error leaves open what the API server has done.
func unanswered(err error) bool {
	return !objects.NothingWritten(err) && !errors.Is(err, errReplaced) &&
		(apierrors.ReasonForError(err) == metav1.StatusReasonUnknown || apierrors.IsTimeout(err))
}

// denied makes an error a *update.Refusal if the API server refuses a Record until somebody does something about it.
// Others may go by themselves, or are the operator's own, such as a right that it lacks.
func denied(err error) error {
	var status apierrors.APIStatus
	if !errors.As(err, &status) {
		return err
	}
	s := status.Status()
	absent := apierrors.IsNotFound(err) && s.Details != nil && s.Details.Kind == "namespaces"
	said := func(words string) bool { return strings.Contains(s.Message, words) } // a missing right has the same code
	if !absent && !apierrors.IsInvalid(err) && !apierrors.HasStatusCause(err, corev1.NamespaceTerminatingCause) &&
		!said("exceeded quota: ") && !said(" denied request: ") && !said(" denied the request") {
		return err
	}
	return &update.Refusal{Rcode: update.Refused, Text: "The API server refuses it: " + s.Message}
}

// step writes one Record. It returns the version that the World is to see, nil if there is no other one than before.
func (p *plan) step(ctx context.Context, s *step) (*core.Version, error) {
	switch {
	case s.before == nil:
		if err := p.Objects.Create(ctx, s.after); err != nil {
			return nil, fmt.Errorf("writing a Record: %w", err)
		}
		version := core.VersionOf(s.after)
		return &version, nil
	case s.after == nil:
		return p.remove(ctx, s)
	}
	return p.patch(ctx, s.before, s.after)
}

var errReplaced = errors.New("has been replaced, or is none of updates any more")

// still returns an errReplaced if a Record that was read again is another one, or people have taken it over.
func (p *plan) still(before, now *v1alpha1.Record) error {
	same := before.UID == now.UID || before.UID == "" // "": its creation was not answered
	if same && now.Labels[zonefold.UpdateLabel] == p.label {
		return nil
	}
	return fmt.Errorf("the Record %s/%s %w", before.Namespace, before.Name, errReplaced)
}

// remove deletes a Record. What is read before may have to come again, with all that it has. One that is gone already
// is not waited for: the World may have seen that before anybody watched, or sees it before all that is written now.
func (p *plan) remove(ctx context.Context, s *step) (*core.Version, error) {
	whole := &v1alpha1.Record{}
	err := p.Live.Get(ctx, client.ObjectKeyFromObject(s.before), whole)
	switch {
	case apierrors.IsNotFound(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("reading Record %s/%s: %w", s.before.Namespace, s.before.Name, err)
	}
	if err := p.still(s.before, whole); err != nil {
		return nil, err
	}
	s.before = whole
	if err := p.Objects.Delete(ctx, whole); apierrors.IsNotFound(err) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("removing a Record: %w", err)
	}
	return &core.Version{}, nil
}

// attempts are how often a Record is changed that somebody else changes, too.
const attempts = 5

// patch gives a Record another spec, and says which message has written it.
func (p *plan) patch(ctx context.Context, before, after *v1alpha1.Record) (*core.Version, error) {
	var err error
	live := before
	var digest any // nil takes the annotation away
	if said, ok := after.Annotations[zonefold.UpdateMessageAnnotation]; ok {
		digest = said
	}
	metadata := map[string]any{"annotations": map[string]any{zonefold.UpdateMessageAnnotation: digest}}
	for range attempts {
		spec, wrong := objects.Differences(live.Spec, after.Spec)
		if wrong != nil {
			return nil, fmt.Errorf("comparing Record %s/%s: %w", before.Namespace, before.Name, wrong)
		}
		var written client.Object
		if written, err = p.Objects.ChangeFields(ctx, live, "spec",
			map[string]any{"spec": spec, "metadata": metadata}); err == nil {
			version := core.VersionOf(written)
			if version == core.VersionOf(live) { // somebody else has given it this spec
				return nil, nil
			}
			return &version, nil
		}
		if !apierrors.IsConflict(err) && !errors.As(err, new(*objects.Behind)) { // the latter: it is of before our own write
			break
		}
		live = &v1alpha1.Record{}
		if err := p.Live.Get(ctx, client.ObjectKeyFromObject(before), live); err != nil {
			return nil, fmt.Errorf("reading Record %s/%s: %w", before.Namespace, before.Name, err)
		}
		if err := p.still(before, live); err != nil {
			return nil, err
		}
	}
	return nil, fmt.Errorf("changing a Record: %w", err)
}
