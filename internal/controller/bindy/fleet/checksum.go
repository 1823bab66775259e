package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/zonefold/zonefold/api/bindy/v1beta1"
	dialect "github.com/zonefold/zonefold/internal/dialect/bindy"
	"github.com/zonefold/zonefold/internal/guarded"
)

// checksum is over what the pods of a server have from their start: what BIND reads then, and who they are for the API
// server. A ServiceAccount that was made anew is another one, and does not vouch for pods of the former. Keys are read
// again while BIND runs.
func (r *rollouts) checksum(ctx context.Context, p *dialect.Plan,
	account types.UID) (string, *dialect.Trouble, error) {
	sum := sha256.New()
	add := func(what, content string) { fmt.Fprintf(sum, "%d %s\n%d %s\n", len(what), what, len(content), content) }
	for _, name := range slices.Sorted(maps.Keys(p.Files)) {
		if p.Uses(name) {
			add(name, p.Files[name])
		}
	}
	for _, u := range p.Users() {
		content, t, err := r.users.file(ctx, p.Instance.Namespace, u)
		if t != nil || err != nil {
			return "", t, err
		}
		add("of the user: "+u.File, content)
	}
	add("account", string(account))
	return hex.EncodeToString(sum.Sum(nil)[:16]), nil, nil
}

// file returns a sum over an entry of a ConfigMap, read at the API server unless this version of it was read
// before: the cache has only metadata of people's ConfigMaps.
func (c *contents) file(ctx context.Context, namespace string,
	u dialect.UserFile) (string, *dialect.Trouble, error) {
	key := client.ObjectKey{Namespace: namespace, Name: u.ConfigMap}
	var cached corev1.ConfigMap
	err := c.client.Get(ctx, key, &cached)
	if err == nil {
		if data, ok := c.get(key, cached.ResourceVersion); ok {
			return u.In(key, data)
		}
	}
	if client.IgnoreNotFound(err) != nil {
		return "", nil, fmt.Errorf("reading %s: %w", dialect.Describe("ConfigMap", key), err)
	}
	var m corev1.ConfigMap
	if err := c.live.Get(ctx, key, &m); err != nil {
		if apierrors.IsNotFound(err) {
			return "", &dialect.Trouble{Reason: v1beta1.ReasonConfigMapNotFound, Message: dialect.Sentence(
				"ConfigMap %s, which configMapRefs.%s names, does not exist; create it, or correct the name. The pods stay as "+
					"they are.", key, u.Field)}, nil
		}
		return "", nil, fmt.Errorf("reading %s: %w", dialect.Describe("ConfigMap", key), err)
	}
	sums := map[string]string{}
	for name, text := range m.Data {
		sum := sha256.Sum256([]byte(text))
		sums[name] = hex.EncodeToString(sum[:])
	}
	c.put(key, m.ResourceVersion, sums)
	return u.In(key, sums)
}

// contents are ConfigMaps of users as they were read: a sum over each entry.
type contents struct {
	client client.Reader // reads from a cache
	live   client.Reader // asks the API server
	of     guarded.Value[map[client.ObjectKey]content]
}

type content struct {
	version string
	sums    map[string]string
}

func (c *contents) get(key client.ObjectKey, version string) (map[string]string, bool) {
	all, unlock := c.of.Lock()
	defer unlock()
	known, ok := (*all)[key]
	return known.sums, ok && known.version == version
}

func (c *contents) put(key client.ObjectKey, version string, sums map[string]string) {
	all, unlock := c.of.Lock()
	defer unlock()
	if *all == nil {
		*all = map[client.ObjectKey]content{}
	}
	(*all)[key] = content{version, sums}
}
