package command

import (
	"context"
	"fmt"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	bindy "github.com/zonefold/zonefold/api/bindy/v1beta1"
	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// A FoundZone is a Zone of kubi.zone or a DNSZone of bindy, as far as freezing it and its history go.
type FoundZone struct {
	metav1.ObjectMeta

	Kind       string // Zone or DNSZone
	FQDN       string // "": it is not known yet
	Serial     int64  // of what is published; 0: nothing is
	Conditions []metav1.Condition

	Zone    *kubizone.Zone // what it is; the other one is nil
	DNSZone *bindy.DNSZone

	at Kind
}

func foundZone(at Kind, z *kubizone.Zone) *FoundZone {
	out := &FoundZone{ObjectMeta: z.ObjectMeta, Kind: kindZone, FQDN: z.Status.FQDN, Conditions: z.Status.Conditions,
		Zone: z, at: at}
	if z.Status.Serial != nil {
		out.Serial = int64(*z.Status.Serial)
	}
	return out
}

func foundDNSZone(at Kind, z *bindy.DNSZone) *FoundZone {
	out := &FoundZone{ObjectMeta: z.ObjectMeta, Kind: bindy.KindZone, Conditions: z.Status.Conditions, DNSZone: z, at: at}
	if name, err := dialect.ZoneName(z.Spec.ZoneName); err == nil {
		out.FQDN = name.String()
	}
	if z.Status.Serial != nil {
		out.Serial = *z.Status.Serial
	}
	return out
}

// String names the object.
func (z *FoundZone) String() string { return z.Kind + " " + z.Namespace + "/" + z.Name }

// SerialText is the serial for people.
func (z *FoundZone) SerialText() string {
	if z.Serial == 0 {
		return "-"
	}
	return fmt.Sprint(z.Serial)
}

// Condition returns one of its conditions, nil if it has none of that type.
func (z *FoundZone) Condition(kind string) *metav1.Condition {
	return apimeta.FindStatusCondition(z.Conditions, kind)
}

// Read reads it again.
func (z *FoundZone) Read(ctx context.Context) error {
	return z.take(ctx, z.at.Of(z.at.Get(), z.Namespace).Name(z.Name))
}

// Patch merges something into it; with the value All for dryRun the API server only tries that.
func (z *FoundZone) Patch(ctx context.Context, patch []byte, dryRun string) error {
	request := z.at.Of(z.at.Patch(types.MergePatchType), z.Namespace).Name(z.Name).Body(patch)
	if dryRun != "" {
		request = request.Param("dryRun", dryRun)
	}
	return z.take(ctx, request)
}

// take has it be what the API server answers.
func (z *FoundZone) take(ctx context.Context, request *rest.Request) error {
	if z.Kind == bindy.KindZone {
		var now bindy.DNSZone
		if err := request.Do(ctx).Into(&now); err != nil {
			return err
		}
		*z = *foundDNSZone(z.at, &now)
		return nil
	}
	var now kubizone.Zone
	if err := request.Do(ctx).Into(&now); err != nil {
		return err
	}
	*z = *foundZone(z.at, &now)
	return nil
}

// isNamed reports whether it has a name: the one that it was found to have, or the one that it asks for until then.
func (z *FoundZone) isNamed(name dnsname.Name) bool {
	if z.FQDN != "" || z.Zone == nil {
		return z.FQDN == name.String()
	}
	asked, err := dnsname.Parse(z.Zone.Spec.DomainName)
	return err == nil && asked == name
}
