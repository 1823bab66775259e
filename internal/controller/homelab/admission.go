package homelab

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/homelab/v1alpha1"
	"github.com/zonefold/zonefold/dnshook"
	"github.com/zonefold/zonefold/internal/controller"
	"github.com/zonefold/zonefold/internal/controller/core"
	"github.com/zonefold/zonefold/internal/controller/homelab/servers"
	dialect "github.com/zonefold/zonefold/internal/dialect/homelab"
	"github.com/zonefold/zonefold/internal/zone"
)

// Reviews is what admission needs.
type Reviews struct {
	Live      client.Reader // asks the API server: a class may be applied right before its records
	Clock     clock.WithTicker
	Foresight *core.Foresight
	Lenient   bool // a DNSRecord whose class does not exist is stored, with a warning
}

// Examiners are what admission asks about the kinds of this dialect.
func Examiners(r Reviews) []controller.Examiner {
	return []controller.Examiner{
		{Kind: &v1alpha1.DNSClass{}, Faults: r.classFaults, Look: r.lookAtClass},
		{Kind: &v1alpha1.DNSRecord{}, Faults: recordFaults, Look: r.lookAtRecord},
	}
}

// classFaults are a DNSClass's own, whichever Secrets there are: those that it names are taken to be right.
func (r Reviews) classFaults(o client.Object) (out []string) {
	c, ok := o.(*v1alpha1.DNSClass)
	if !ok {
		return nil
	}
	for _, n := range dialect.ConvertClass(c).Warnings {
		out = append(out, n.Message)
	}
	alone := c.DeepCopy()
	alone.Spec.CABundleRef = nil
	if h := alone.Spec.HMACAuth; h != nil && h.SecretRef != nil && h.Secret == "" {
		h.SecretRef, h.Secret = nil, strings.Repeat("x", dnshook.MinSecret)
	}
	if _, err := servers.Examine(context.Background(), r.Live, r.Clock.Now, alone); err != nil {
		out = append(out, err.Error())
	}
	return out
}

// lookAtClass says which Secrets it lacks, which may be made later, and whose records it turns away.
func (r Reviews) lookAtClass(ctx context.Context, old, o client.Object) controller.Findings {
	c, ok := o.(*v1alpha1.DNSClass)
	if !ok {
		return controller.Findings{}
	}
	converted := dialect.ConvertClass(c)
	found := r.Foresight.Look(ctx, core.Inquiry{
		ID: converted.ID, Stored: old != nil,
		Forecast: func(ctx context.Context) (zone.Forecast, bool) {
			f, ok := r.Foresight.Zone(ctx, converted)
			f.Verdict.Message = "" // that it has the root of its own heap of names is no news
			return f, ok
		},
	})
	reach, err := servers.Examine(ctx, r.Live, r.Clock.Now, c)
	if note := reach.LineFeed(); note != "" {
		found.Warnings = append(found.Warnings, fmt.Sprintf("note (%s): %s", servers.ReasonLineFeed, note))
	}
	if secret := (*servers.SecretError)(nil); errors.As(err, &secret) {
		found.Warnings = append(found.Warnings, fmt.Sprintf("not usable (%s): %s", servers.ReasonSecretNotFound, secret.Text))
	} else if class := (*servers.ClassError)(nil); errors.As(err, &class) {
		found.Warnings = append(found.Warnings, "not usable: "+class.Text)
	}
	return found
}

func recordFaults(o client.Object) []string {
	if r, ok := o.(*v1alpha1.DNSRecord); ok {
		if claim, _ := dialect.ConvertRecord(r); claim.Invalid != nil {
			return []string{claim.Invalid.Message}
		}
	}
	return nil
}

// lookAtRecord refuses a reference to a class that does not exist, if it is new, and says what else would come of the
// record.
func (r Reviews) lookAtRecord(ctx context.Context, old, o client.Object) (found controller.Findings) {
	record, ok := o.(*v1alpha1.DNSRecord)
	if !ok {
		return found
	}
	name := record.Spec.DNSClassRef.Name
	was, stored := old.(*v1alpha1.DNSRecord)
	if !stored || was.Spec.DNSClassRef.Name != name {
		var class v1alpha1.DNSClass
		err := r.Live.Get(ctx, client.ObjectKey{Name: name}, &class)
		if err == nil && !class.DeletionTimestamp.IsZero() {
			found.Warnings = []string{fmt.Sprintf("refused (%s): %s", servers.ReasonInvalidConfiguration,
				servers.Ending(name).Text)}
			return found
		}
		if apierrors.IsNotFound(err) {
			missing := fmt.Sprintf("%s names the DNSClass %s, which does not exist; create it or correct dnsClassRef.",
				dialect.RecordID(o.GetNamespace(), o.GetName()), name)
			if r.Lenient {
				found.Warnings = []string{fmt.Sprintf("refused (%s): %s", servers.ReasonClassNotFound, missing)}
			} else {
				found.Denials = []string{missing}
			}
			return found
		}
	}
	claim, _ := dialect.ConvertRecord(record)
	return r.Foresight.Look(ctx, core.Inquiry{
		ID: claim.ID, Stored: stored, Missing: []zone.Reason{zone.ReferenceNotFound, zone.ParentNotAccepted},
		Forecast: func(ctx context.Context) (zone.Forecast, bool) { return r.Foresight.Claim(ctx, claim) },
	})
}
