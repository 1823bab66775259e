package updates

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	zonefold "github.com/zonefold/zonefold/api/zonefold/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller/objects"
	"github.com/zonefold/zonefold/internal/update"
)

func TestStepsAreTakenTogetherAfterTheFirst(t *testing.T) {
	steps := make([]*step, 3*writers)
	for i := range steps {
		steps[i] = &step{}
	}
	var mu sync.Mutex
	var begun []*step
	all := make(chan struct{}) // closed when as many are under way as may be
	err := each(steps, func(s *step) error {
		mu.Lock()
		begun = append(begun, s)
		n := len(begun)
		mu.Unlock()
		if n == writers+1 {
			close(all)
		}
		if n > 1 {
			<-all
		}
		return nil
	})
	if err != nil || len(begun) != len(steps) || begun[0] != steps[0] {
		t.Errorf("%d have begun: %v", len(begun), err)
	}
	wrong := errors.New("no")
	begun = nil
	if err := each(steps, func(s *step) error { begun = append(begun, s); return wrong }); !errors.Is(err, wrong) ||
		len(begun) != 1 {
		t.Errorf("when the first fails, %d have begun: %v", len(begun), err)
	}
}

func TestWhatMayHaveBeenWritten(t *testing.T) {
	records := schema.GroupResource{Group: "kubi.zone", Resource: "records"}
	for _, c := range []struct {
		sentence string
		err      error
		want     bool
	}{
		{"the time is over", context.DeadlineExceeded, true},
		{"a connection breaks", errors.New("EOF"), true},
		{"the API server gives up", apierrors.NewTimeoutError("no", 1), true},
		{"it is forbidden", apierrors.NewForbidden(records, "a", nil), false},
		{"there is one", apierrors.NewAlreadyExists(records, "a"), false},
		{"another operator may lead", objects.ErrNotLeading, false},
	} {
		if got := unanswered(fmt.Errorf("creating: %w", c.err)); got != c.want {
			t.Errorf("%s: %v", c.sentence, got)
		}
	}
}

func TestWhatTheAPIServerRefusesForGood(t *testing.T) {
	records := schema.GroupResource{Group: "kubi.zone", Resource: "records"}
	byPolicy := errors.New("ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no")
	policy := apierrors.NewForbidden(records, "a", byPolicy)
	policy.ErrStatus.Reason, policy.ErrStatus.Code = metav1.StatusReasonInvalid, http.StatusUnprocessableEntity
	ending := apierrors.NewForbidden(records, "a", errors.New("unable to create new content in namespace b"))
	ending.ErrStatus.Details.Causes = []metav1.StatusCause{{Type: corev1.NamespaceTerminatingCause}}
	hook := &apierrors.StatusError{ErrStatus: metav1.Status{
		Code: http.StatusForbidden, Reason: metav1.StatusReasonForbidden,
		Message: `admission webhook "w" denied the request: no`}}
	for _, c := range []struct {
		sentence string
		err      error
		want     bool
	}{
		{"a quota is used up", apierrors.NewForbidden(records, "a", errors.New("exceeded quota: q, requested: 1")), true},
		{"a policy says no", policy, true},
		{"a policy says no with another code", apierrors.NewForbidden(records, "a", byPolicy), true},
		{"a webhook says no", hook, true},
		{"the schema says no", apierrors.NewInvalid(schema.GroupKind{Group: "kubi.zone", Kind: "Record"}, "a", nil), true},
		{"there is no namespace", apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, "b"), true},
		{"the namespace ends", ending, true},
		{"the operator lacks a right", apierrors.NewForbidden(records, "", errors.New(`User "system:serviceaccount:z:z" `+
			`cannot create resource "records" in API group "kubi.zone" in the namespace "b"`)), false},
		{"the API server starts", apierrors.NewForbidden(records, "a", errors.New("not yet ready to handle request")), false},
		{"the Record has gone", apierrors.NewNotFound(records, "a"), false},
		{"somebody else has changed it", apierrors.NewConflict(records, "a", errors.New("no")), false},
		{"a webhook does not answer", apierrors.NewInternalError(errors.New("failed calling webhook")), false},
		{"the time is over", context.DeadlineExceeded, false},
	} {
		var refusal *update.Refusal
		got := errors.As(denied(fmt.Errorf("writing a Record: %w", c.err)), &refusal)
		if got != c.want || got && (refusal.Rcode != update.Refused || !strings.Contains(refusal.Text, c.err.Error())) {
			t.Errorf("%s: %v", c.sentence, refusal)
		}
	}
}

// stored is an API server that has one Record, or none.
type stored struct {
	client.Reader
	record *v1alpha1.Record
}

func (s stored) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	if s.record == nil {
		return apierrors.NewNotFound(schema.GroupResource{Group: "kubi.zone", Resource: "records"}, key.Name)
	}
	s.record.DeepCopyInto(into.(*v1alpha1.Record))
	return nil
}

func TestWhatIsNotAsItWasPlannedIsNotRemoved(t *testing.T) {
	record := func(uid types.UID, label string) *v1alpha1.Record {
		return &v1alpha1.Record{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "www", UID: uid,
			Labels: map[string]string{zonefold.UpdateLabel: label}}}
	}
	for _, c := range []struct {
		sentence string
		now      *v1alpha1.Record
		want     error
	}{
		{"it is gone already, and nobody waits for that", nil, nil},
		{"another one has its name", record("2", zonefold.UpdateRFC2136), errReplaced},
		{"people have taken it over", record("1", ""), errReplaced},
		{"it is a Record of external-dns now", record("1", zonefold.UpdateExternalDNS), errReplaced},
	} {
		p := &plan{Updates: &Updates{Config: Config{Live: stored{record: c.now}}}, label: zonefold.UpdateRFC2136}
		version, err := p.step(t.Context(), &step{before: record("1", zonefold.UpdateRFC2136)})
		if version != nil || !errors.Is(err, c.want) {
			t.Errorf("%s: %v, %v", c.sentence, version, err)
		}
	}
}
