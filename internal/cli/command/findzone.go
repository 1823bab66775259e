package command

import (
	"context"
	"errors"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	bindy "github.com/zonefold/zonefold/api/bindy/v1beta1"
	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/cli/plain"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// FindZone returns the Zone or DNSZone that a person means: NAMESPACE/NAME, with zone/ or dnszone/ before that if there
// are both, or a domain name, of which there may be several. With a namespace it is one of those of that namespace.
func FindZone(ctx context.Context, c *Cluster, namespace, text string) (*FoundZone, error) {
	if strings.Contains(text, "/") {
		return findObject(ctx, c, text)
	}
	name, err := Origin(text)
	if err != nil {
		return nil, err
	}
	found, unseen := []*FoundZone(nil), error(nil)
	for _, kind := range zoneKinds(c) {
		err := kind.each(ctx, namespace, func(z *FoundZone) {
			if z.isNamed(name) {
				found = append(found, z)
			}
		})
		unseen = firstUnseen(unseen, kind, err)
	}
	switch where := map[bool]string{true: "all namespaces", false: "namespace " + namespace}[namespace == ""]; {
	case len(found) > 1:
		return nil, fmt.Errorf("%s is the name of %s and of %s; name one of them as KIND/NAMESPACE/NAME", name, found[0],
			found[1])
	case len(found) == 1:
		return found[0], nil
	case unseen != nil && namespace == "":
		return nil, fmt.Errorf("looking for %s in %s: %w; name the zone as NAMESPACE/NAME", name, where, unseen)
	case unseen != nil:
		return nil, fmt.Errorf("looking for %s in %s: %w", name, where, unseen)
	}
	return nil, fmt.Errorf("the cluster has no Zone and no DNSZone that is %s", name)
}

// findObject is FindZone by the name of the object.
func findObject(ctx context.Context, c *Cluster, text string) (*FoundZone, error) {
	said, in, name := "", "", ""
	switch parts := strings.Split(text, "/"); len(parts) {
	case 2:
		in, name = parts[0], parts[1]
	case 3:
		said, in, name = parts[0], parts[1], parts[2]
	}
	found, unseen := []*FoundZone(nil), error(nil)
	for _, kind := range zoneKinds(c) {
		if name == "" || said != "" && !strings.EqualFold(strings.TrimSuffix(said, "s"), kind.name) {
			continue
		}
		z, err := kind.get(ctx, in, name)
		if err == nil {
			found = append(found, z)
		}
		unseen = firstUnseen(unseen, kind, err)
	}
	switch {
	case len(found) > 1:
		return nil, fmt.Errorf("there are %s and %s; put zone/ or dnszone/ before the name", found[0], found[1])
	case len(found) == 1:
		return found[0], nil
	case unseen != nil:
		return nil, fmt.Errorf("reading %s: %w", plain.Line(text), unseen)
	}
	return nil, fmt.Errorf("there is no Zone %s, and no DNSZone; name it as NAMESPACE/NAME, or by its domain name",
		plain.Line(text))
}

// firstUnseen returns the first error for which nobody can tell whether there is a zone. A kind that the cluster does
// not have has no objects.
func firstUnseen(before error, kind zoneKind, err error) error {
	if before != nil || err == nil || apierrors.IsNotFound(err) {
		return before
	}
	return fmt.Errorf("%ss cannot be read: %w", kind.name, err)
}

// Enclosing returns the Zone or DNSZone with the longest name that a name is in, of those that were published.
func Enclosing(ctx context.Context, c *Cluster, namespace string, name dnsname.Name) (*FoundZone, error) {
	var found *FoundZone
	longest, unseen := 0, error(nil)
	for _, kind := range zoneKinds(c) {
		err := kind.each(ctx, namespace, func(z *FoundZone) {
			apex, err := dnsname.Parse(z.FQDN)
			if err == nil && z.Serial != 0 && name.Under(apex) && (found == nil || apex.NumLabels() > longest) {
				longest, found = apex.NumLabels(), z
			}
		})
		unseen = firstUnseen(unseen, kind, err)
	}
	switch {
	case found != nil:
		return found, nil
	case unseen != nil && namespace == "":
		return nil, fmt.Errorf("looking for the zone of %s in all namespaces: %w; say with -n in which one it is", name,
			unseen)
	case unseen != nil:
		return nil, fmt.Errorf("looking for the zone of %s in namespace %s: %w", name, namespace, unseen)
	}
	return nil, fmt.Errorf("no Zone and no DNSZone that was published has %s", name)
}

// A zoneKind is a kind of zones, and where they are asked for.
type zoneKind struct {
	name string
	Kind
}

func zoneKinds(c *Cluster) []zoneKind {
	return []zoneKind{{kindZone, ZonesOf(c)}, {bindy.KindZone, c.Bindy("dnszones")}}
}

// ZonesOf is where Zones are asked for.
func ZonesOf(c *Cluster) Kind { return c.Kubizone("zones") }

const kindZone = "Zone"

// errOtherKind is about a kind that is none of zones.
var errOtherKind = errors.New("it is no kind of zones")

// get reads one.
func (k zoneKind) get(ctx context.Context, namespace, name string) (*FoundZone, error) {
	z := &FoundZone{Kind: k.name, at: k.Kind}
	z.Namespace, z.Name = namespace, name
	if err := z.Read(ctx); err != nil {
		return nil, err
	}
	return z, nil
}

// each visits those of a namespace, "" of all.
func (k zoneKind) each(ctx context.Context, namespace string, visit func(*FoundZone)) error {
	switch k.name {
	case kindZone:
		return EachPage(ctx, k.Kind, namespace, func(list *kubizone.ZoneList) {
			for i := range list.Items {
				visit(foundZone(k.Kind, &list.Items[i]))
			}
		})
	case bindy.KindZone:
		return EachPage(ctx, k.Kind, namespace, func(list *bindy.DNSZoneList) {
			for i := range list.Items {
				visit(foundDNSZone(k.Kind, &list.Items[i]))
			}
		})
	}
	return errOtherKind
}
