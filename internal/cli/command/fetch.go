package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	kubizone "github.com/zonefold/zonefold/api/kubizone/v1alpha1"
	"github.com/zonefold/zonefold/internal/backend/dialguard"
	"github.com/zonefold/zonefold/internal/budget"
	"github.com/zonefold/zonefold/internal/cli/live"
	"github.com/zonefold/zonefold/internal/cli/manifest"
)

// ObjectFlags say which objects to work on: those of files, or, without any, those of a cluster.
type ObjectFlags struct {
	InputFlags
	Cluster ClusterFlags
	Sources bool
	Shared  *Shared // where many people use one program; nil: it is the person's own
}

// Shared is what is otherwise where many people use one program, each with their own rights.
type Shared struct {
	Namespaces []string         // to look into where not all may be seen
	Most       int64            // octets of objects that are held for one person
	Operator   string           // the operator's namespace
	Guard      *dialguard.Guard // for servers that somebody else names
	Reads      *budget.Pool     // for what is read from servers
	Anew       time.Duration    // how often rights are asked for again
}

// Register adds the flags to a command.
func (f *ObjectFlags) Register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVarP(&f.Files, "filename", "f", nil, "a file, a folder with everything below it "+
		"(*.yaml, *.yml, *.json), or - for the standard input; repeatable (default: the objects of the cluster)")
	cmd.Flags().StringVarP(&f.Namespace, "namespace", "n", "",
		"the namespace of objects without one (default: that of the context; for files, default)")
	f.Cluster.RegisterConnection(cmd)
	cmd.Flags().BoolP("all-namespaces", "A", false, "look into all namespaces, as is done anyway if you may")
	cmd.Flags().BoolVar(&f.Sources, "sources", false,
		"in a cluster: also read Services, Ingresses, routes and the like, as the operator does with --source")
}

// Found are what a command works on.
type Found struct {
	*manifest.Input
	Namespace string   // the one that is meant where none is said
	Unseen    []string // sentences on what of a cluster could not be seen
	Cluster   bool
	API       rest.Interface // of a cluster
	Guard     *dialguard.Guard

	asked map[manifest.Ref]kubizone.ZoneSpec // of Zones that stand where their statuses say
}

// Read reads the objects.
func (f *ObjectFlags) Read(ctx context.Context, env Env, p *Progress) (*Found, error) {
	if f.FromFiles() {
		f.Namespace = cmp.Or(f.Namespace, metav1.NamespaceDefault)
		in, err := f.InputFlags.Read(env, p)
		return &Found{Input: in, Namespace: f.Namespace}, err
	}
	return f.ReadBy(ctx, env, p, func(fetcher *Fetcher) error { return fetcher.FetchAll(ctx, f.Sources) })
}

// ReadBy reads those objects of a cluster that somebody fetches.
func (f *ObjectFlags) ReadBy(ctx context.Context, env Env, p *Progress, fetch func(*Fetcher) error) (*Found, error) {
	f.Cluster.Namespace = f.Namespace
	config, namespace, err := f.Cluster.Config(env)
	if err != nil {
		return nil, fmt.Errorf("%w; or name files to read with -f", err)
	}
	p.Begin("reading the cluster", 0)
	out := &Found{Namespace: namespace, Cluster: true}
	fetcher, err := NewFetcher(config, namespace)
	if err != nil {
		return nil, err
	}
	if err := fetch(fetcher); err != nil {
		return nil, err
	}
	var texts []manifest.Text
	for _, l := range fetcher.Lists {
		texts = append(texts, l.Texts...)
	}
	out.API = fetcher.Client.RESTClient()
	out.Input, err = manifest.Read(manifest.Options{Texts: texts, Namespace: namespace, Begin: p.Begin})
	if err == nil && f.Sources {
		err = fetcher.complete(ctx, out.Objects)
	}
	if out.Unseen = fetcher.Unseen; err == nil {
		out.stand()
	}
	return out, err
}

// fetched is what was listed at one path.
type fetched struct {
	Path, Version string
	Texts         []manifest.Text
}

// A Fetcher lists the objects of a cluster.
type Fetcher struct {
	Client     *discovery.DiscoveryClient
	namespaces []string // to look into where not all may be seen
	Most       int64    // octets that are read; 0: whatever there is
	read       int64
	found      map[schema.GroupKind]bool
	served     map[string]map[string]metav1.APIResource // by group and version, then kind
	Lists      []fetched
	Unseen     []string
	refused    []string // paths
}

// NewFetcher lists objects of all namespaces, or else of these.
func NewFetcher(config *rest.Config, namespaces ...string) (*Fetcher, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // the API server has its own limits
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	return &Fetcher{Client: client, namespaces: namespaces, found: map[schema.GroupKind]bool{},
		served: map[string]map[string]metav1.APIResource{}}, nil
}

// Gains says whether something may be listed that was refused before.
func (f *Fetcher) Gains(ctx context.Context) bool {
	return slices.ContainsFunc(f.refused, func(path string) bool {
		return f.Client.RESTClient().Get().AbsPath(path).Param("limit", "1").Do(ctx).Error() == nil
	})
}

// FetchAll lists the objects of all kinds, of Services and others like them if sources count.
func (f *Fetcher) FetchAll(ctx context.Context, sources bool) error {
	for _, r := range manifest.Resources() {
		if r.Source && !sources {
			continue
		}
		if err := f.Fetch(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// Fetch lists the objects of a kind, if the cluster has it: in one version of it.
func (f *Fetcher) Fetch(ctx context.Context, r manifest.Resource) error {
	at, resource, err := f.locate(r)
	if err != nil || resource == "" {
		return err
	}
	err = f.list(ctx, at+"/"+resource)
	if !apierrors.IsForbidden(err) {
		return err
	}
	if r.Cluster {
		f.Unseen = append(f.Unseen, fmt.Sprintf("You may not list %s.", resource))
		return nil
	}
	return f.fetchNamespaces(ctx, at, resource)
}

// FetchIn lists the objects of a kind that are in some namespaces, if the cluster has it.
func (f *Fetcher) FetchIn(ctx context.Context, r manifest.Resource, namespaces ...string) error {
	at, resource, err := f.locate(r)
	if err != nil || resource == "" {
		return err
	}
	for _, namespace := range namespaces {
		err := f.list(ctx, at+"/namespaces/"+namespace+"/"+resource)
		if apierrors.IsForbidden(err) {
			f.Unseen = append(f.Unseen, fmt.Sprintf("You may not list %s in namespace %s.", resource, namespace))
		} else if err != nil {
			return err
		}
	}
	return nil
}

// locate returns the path of the group of a kind, and the kind's resource; "": the cluster does not have it, or another
// version of it was located before.
func (f *Fetcher) locate(r manifest.Resource) (path, resource string, err error) {
	gv, err := schema.ParseGroupVersion(r.GroupVersion)
	if err != nil {
		return "", "", err
	}
	kind := gv.WithKind(r.Kind).GroupKind()
	known, served, err := f.resource(gv, r.Kind)
	if err != nil || !served || f.found[kind] {
		return "", "", err
	}
	f.found[kind] = true
	if gv.Group == "" {
		return "/api/" + gv.Version, known.Name, nil
	}
	return "/apis/" + gv.String(), known.Name, nil
}

// fetchNamespaces lists the objects of a kind in those namespaces that are looked into.
func (f *Fetcher) fetchNamespaces(ctx context.Context, path, resource string) error {
	var seen []string
	for _, namespace := range f.namespaces {
		switch err := f.list(ctx, path+"/namespaces/"+namespace+"/"+resource); {
		case err == nil:
			seen = append(seen, namespace)
		case !apierrors.IsForbidden(err):
			return err
		}
	}
	switch {
	case len(f.namespaces) == 0:
		f.Unseen = append(f.Unseen,
			fmt.Sprintf("You may not list %s in all namespaces, and have named none.", resource))
	case len(seen) == 0:
		f.Unseen = append(f.Unseen, fmt.Sprintf("You may not list %s.", resource))
	default:
		f.Unseen = append(f.Unseen,
			fmt.Sprintf("You may not list %s in namespaces other than %s.", resource, strings.Join(seen, ", ")))
	}
	return nil
}

// resource returns what the API server calls a kind; false: it does not have it.
func (f *Fetcher) resource(gv schema.GroupVersion, kind string) (metav1.APIResource, bool, error) {
	known, asked := f.served[gv.String()]
	if !asked {
		list, err := f.Client.ServerResourcesForGroupVersion(gv.String())
		if err != nil && !apierrors.IsNotFound(err) {
			return metav1.APIResource{}, false, fmt.Errorf("asking the API server for %s: %w", gv, err)
		}
		known = map[string]metav1.APIResource{}
		if err == nil {
			for _, r := range list.APIResources {
				if !strings.Contains(r.Name, "/") {
					known[r.Kind] = r
				}
			}
		}
		f.served[gv.String()] = known
	}
	r, served := known[kind]
	return r, served, nil
}

// list keeps all objects at a path.
func (f *Fetcher) list(ctx context.Context, path string) error {
	most := f.Most
	if most > 0 {
		most = max(1, most-f.read)
	}
	texts, version, err := live.Read(ctx, f.Client.RESTClient(), path, most)
	if errors.Is(err, live.ErrTooMuch) {
		return TooMuch(f.Most+1, f.Most)
	}
	for i := range texts {
		f.read += texts[i].Size()
	}
	switch {
	case err == nil:
		f.Lists = append(f.Lists, fetched{path, version, texts})
	case apierrors.IsForbidden(err):
		f.refused = append(f.refused, path)
	}
	return err
}

// TooMuch is an error if objects have more octets than may be held for one person; 0 is no limit.
func TooMuch(octets, most int64) error {
	if most == 0 || octets <= most {
		return nil
	}
	return fmt.Errorf("your objects have more than the %d MiB that this console holds for one person; look into fewer "+
		"namespaces, use kubectl zonefold console, or have its administrator raise --objects", most>>20)
}

// WatchClient returns a client whose answers may take for ever.
func WatchClient(config *rest.Config) (rest.Interface, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Timeout = -1, 0
	config.NegotiatedSerializer = serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion()
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	return client, nil
}
