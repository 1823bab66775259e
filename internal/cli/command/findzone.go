package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	bindy "github.com/zonefold/zonefold/api/bindy/v1beta1"
	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/cli/plain"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// FindZone returns the Zone or DNSZone that a person means: NAMESPACE/NAME, with zone/ or dnszone/ before that if there
// are both, or a domain name. If several have that, it is the one that is published; anybody may ask for a name. With a
// namespace it is one of those of that namespace.
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
		err := kind.eachSeen(ctx, namespace, c.namespace, func(z *FoundZone) {
			if z.isNamed(name) {
				found = append(found, z)
			}
		})
		unseen = firstUnseen(unseen, kind, err)
	}
	published := slices.DeleteFunc(slices.Clone(found), func(z *FoundZone) bool { return z.Serial == 0 })
	if len(published) > 0 {
		found = published
	}
	switch {
	case len(found) > 1:
		return nil, fmt.Errorf("%s is the name of %s and of %s; name one of them as KIND/NAMESPACE/NAME", name, found[0],
			found[1])
	case len(found) == 1:
		return found[0], nil
	case unseen != nil:
		return nil, unseenIn(namespace, name.String(), unseen, "name the zone as NAMESPACE/NAME")
	}
	return nil, fmt.Errorf("the cluster has no Zone or DNSZone %s", name)
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
	return nil, fmt.Errorf("no Zone or DNSZone is called %s; name it as NAMESPACE/NAME, or by its domain name",
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
		err := kind.eachSeen(ctx, namespace, c.namespace, func(z *FoundZone) {
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
	case unseen != nil:
		return nil, unseenIn(namespace, "the zone of "+name.String(), unseen, "name its namespace with -n")
	}
	return nil, fmt.Errorf("no published Zone or DNSZone has %s", name)
}

// unseenIn is the error of who looks for something in a namespace, "" for all: there is a way out then.
func unseenIn(namespace, what string, err error, wayOut string) error {
	if namespace == "" && apierrors.IsForbidden(err) {
		return fmt.Errorf("looking for %s in all namespaces: %w; %s", what, err, wayOut)
	}
	if namespace == "" {
		return fmt.Errorf("looking for %s: %w", what, err)
	}
	return fmt.Errorf("looking for %s in namespace %s: %w", what, namespace, err)
}

// A zoneKind is a kind of zones, where they are asked for, and who visits those of a namespace, "" of all.
type zoneKind struct {
	name string
	Kind
	each func(ctx context.Context, namespace string, visit func(*FoundZone)) error
}

// eachSeen visits those of a namespace, "" of all; where not all may be seen, those of one's own besides the error.
func (k zoneKind) eachSeen(ctx context.Context, namespace, own string, visit func(*FoundZone)) error {
	err := k.each(ctx, namespace, visit)
	if namespace == "" && own != "" && apierrors.IsForbidden(err) {
		_ = k.each(ctx, own, visit) // what it cannot see either is told already
	}
	return err
}

const kindZone = "Zone"

func zoneKinds(c *Cluster) []zoneKind {
	zones, dnsZones := ZonesOf(c), c.Bindy("dnszones")
	return []zoneKind{
		{kindZone, zones, func(ctx context.Context, namespace string, visit func(*FoundZone)) error {
			return EachPage(ctx, zones, namespace, func(list *kubizone.ZoneList) {
				for i := range list.Items {
					visit(foundZone(zones, &list.Items[i]))
				}
			})
		}},
		{bindy.KindZone, dnsZones, func(ctx context.Context, namespace string, visit func(*FoundZone)) error {
			return EachPage(ctx, dnsZones, namespace, func(list *bindy.DNSZoneList) {
				for i := range list.Items {
					visit(foundDNSZone(dnsZones, &list.Items[i]))
				}
			})
		}},
	}
}

// ZonesOf is where Zones are asked for.
func ZonesOf(c *Cluster) Kind { return c.Kubizone("zones") }

// get reads one.
func (k zoneKind) get(ctx context.Context, namespace, name string) (*FoundZone, error) {
	z := &FoundZone{Kind: k.name, at: k.Kind}
	z.Namespace, z.Name = namespace, name
	if err := z.Read(ctx); err != nil {
		return nil, err
	}
	return z, nil
}
