package command

import (
	"context"
	"fmt"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/cli/plain"
	"github.com/zonefold/zonefold/internal/dnsname"
)

// ZonesOf is where Zones are asked for.
func ZonesOf(c *Cluster) Kind { return c.Kubizone("zones") }

// FindZone returns the Zone that a person means: NAMESPACE/NAME, or a domain name, of which there may be several. With
// a namespace it is one of those of that namespace.
func FindZone(ctx context.Context, c *Cluster, namespace, text string) (*kubizone.Zone, error) {
	if in, name, ok := strings.Cut(text, "/"); ok {
		z := &kubizone.Zone{}
		err := ZonesOf(c).Of(ZonesOf(c).Get(), in).Name(name).Do(ctx).Into(z)
		if apierrors.IsNotFound(err) {
			return nil, fmt.Errorf("there is no Zone %s; name it as NAMESPACE/NAME, or by its domain name", plain.Line(text))
		} else if err != nil {
			return nil, fmt.Errorf("reading Zone %s: %w", plain.Line(text), err)
		}
		return z, nil
	}
	name, err := Origin(text)
	if err != nil {
		return nil, err
	}
	var found []kubizone.Zone
	err = EachPage(ctx, ZonesOf(c), namespace, func(list *kubizone.ZoneList) {
		for i := range list.Items {
			if isNamed(&list.Items[i], name) {
				found = append(found, list.Items[i])
			}
		}
	})
	switch {
	case err != nil && namespace == "":
		return nil, fmt.Errorf("looking for %s in all namespaces: %w; name the Zone as NAMESPACE/NAME", name, err)
	case err != nil:
		return nil, fmt.Errorf("looking for %s in namespace %s: %w", name, namespace, err)
	case len(found) == 0:
		return nil, fmt.Errorf("the cluster has no Zone that is %s; a DNSZone has no history, and cannot be frozen", name)
	case len(found) > 1:
		return nil, fmt.Errorf("%s is the name of Zone %s/%s and of Zone %s/%s; name one of them as NAMESPACE/NAME", name,
			found[0].Namespace, found[0].Name, found[1].Namespace, found[1].Name)
	}
	return &found[0], nil
}

// isNamed reports whether a Zone has a name: the one that it was found to have, or the one that it asks for until then.
func isNamed(z *kubizone.Zone, name dnsname.Name) bool {
	if z.Status.FQDN != "" {
		return z.Status.FQDN == name.String()
	}
	asked, err := dnsname.Parse(z.Spec.DomainName)
	return err == nil && asked == name
}
