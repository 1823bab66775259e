package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"

	"github.com/zonefold/zonefold/internal/backend/dialguard"
	"github.com/zonefold/zonefold/internal/budget"
	"github.com/zonefold/zonefold/internal/cli/live"
	"github.com/zonefold/zonefold/internal/cli/manifest"
)

// objectFlags say which objects to work on: those of files, or, without any, those of a cluster.
type objectFlags struct {
	inputFlags
	cluster clusterFlags
	sources bool
	shared  *shared // where many people use one program; nil: it is the person's own
}

// shared is what is otherwise where many people use one program, each with their own rights.
type shared struct {
	namespaces []string         // to look into where not all may be seen
	most       int64            // octets of objects that are held for one person
	operator   string           // the operator's namespace
	guard      *dialguard.Guard // for servers that somebody else names
	reads      *budget.Pool     // for what is read from servers
}

func (f *objectFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVarP(&f.files, "filename", "f", nil, "a file, a folder with everything below it "+
		"(*.yaml, *.yml, *.json), or - for the standard input; repeatable (default: the objects of the cluster)")
	cmd.Flags().StringVarP(&f.namespace, "namespace", "n", "",
		"the namespace where none is said (default: that of the context; of files, default)")
	f.cluster.registerConnection(cmd)
	cmd.Flags().BoolVar(&f.sources, "sources", false,
		"of a cluster: Services, Ingresses, routes and others like them count, as where the operator has --source")
}

// objects are what a command works on.
type objects struct {
	*manifest.Input
	namespace string   // the one that is meant where none is said
	unseen    []string // sentences on what of a cluster could not be seen
	cluster   bool
	api       rest.Interface // of a cluster
	guard     *dialguard.Guard
}

// read reads the objects.
func (f *objectFlags) read(ctx context.Context, env Env, p *progress) (*objects, error) {
	if len(f.files) > 0 {
		f.namespace = cmp.Or(f.namespace, metav1.NamespaceDefault)
		in, err := f.inputFlags.read(env, p)
		return &objects{Input: in, namespace: f.namespace}, err
	}
	f.cluster.namespace = f.namespace
	config, namespace, err := f.cluster.config(env)
	if err != nil {
		return nil, fmt.Errorf("%w; or say with -f which files to read", err)
	}
	p.begin("reading the cluster", 0)
	out := &objects{namespace: namespace, cluster: true}
	fetcher, err := newFetcher(config, namespace)
	if err != nil {
		return nil, err
	}
	if err := fetcher.fetchAll(ctx, f.sources); err != nil {
		return nil, err
	}
	var texts []manifest.Text
	for _, l := range fetcher.lists {
		texts = append(texts, l.texts...)
	}
	out.unseen, out.api = fetcher.unseen, fetcher.client.RESTClient()
	out.Input, err = manifest.Read(manifest.Options{Texts: texts, Namespace: namespace, Begin: p.begin})
	return out, err
}

// fetched is what was listed at one path.
type fetched struct {
	path, version string
	texts         []manifest.Text
}

// A fetcher lists the objects of a cluster.
type fetcher struct {
	client     *discovery.DiscoveryClient
	namespaces []string // to look into where not all may be seen
	most       int64    // octets that are read; 0: whatever there is
	read       int64
	found      map[schema.GroupKind]bool
	served     map[string]map[string]metav1.APIResource // by group and version, then kind
	lists      []fetched
	unseen     []string
}

func newFetcher(config *rest.Config, namespaces ...string) (*fetcher, error) {
	config = rest.CopyConfig(config)
	config.QPS = -1 // the API server has its own limits
	client, err := discovery.NewDiscoveryClientForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	return &fetcher{client: client, namespaces: namespaces, found: map[schema.GroupKind]bool{},
		served: map[string]map[string]metav1.APIResource{}}, nil
}

// fetchAll lists the objects of all kinds, of Services and others like them if sources count.
func (f *fetcher) fetchAll(ctx context.Context, sources bool) error {
	for _, r := range manifest.Resources() {
		if r.Source && !sources {
			continue
		}
		if err := f.fetch(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// fetch lists the objects of a kind, if the cluster has it: in one version of it.
func (f *fetcher) fetch(ctx context.Context, r manifest.Resource) error {
	gv, err := schema.ParseGroupVersion(r.GroupVersion)
	if err != nil {
		return err
	}
	kind := gv.WithKind(r.Kind).GroupKind()
	resource, served, err := f.resource(gv, r.Kind)
	if err != nil || !served || f.found[kind] {
		return err
	}
	f.found[kind] = true
	path := "/apis/" + gv.String()
	if gv.Group == "" {
		path = "/api/" + gv.Version
	}
	err = f.list(ctx, path+"/"+resource.Name)
	if !apierrors.IsForbidden(err) {
		return err
	}
	if r.Cluster {
		f.unseen = append(f.unseen, fmt.Sprintf("You may not list %s.", resource.Name))
		return nil
	}
	return f.fetchNamespaces(ctx, path, resource.Name)
}

// fetchNamespaces lists the objects of a kind in those namespaces that are looked into.
func (f *fetcher) fetchNamespaces(ctx context.Context, path, resource string) error {
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
		f.unseen = append(f.unseen,
			fmt.Sprintf("You may not list %s of all namespaces, and have not said of which.", resource))
	case len(seen) == 0:
		f.unseen = append(f.unseen, fmt.Sprintf("You may not list %s.", resource))
	default:
		f.unseen = append(f.unseen,
			fmt.Sprintf("You may not list %s of other namespaces than %s.", resource, strings.Join(seen, ", ")))
	}
	return nil
}

// resource returns what the API server calls a kind; false: it does not have it.
func (f *fetcher) resource(gv schema.GroupVersion, kind string) (metav1.APIResource, bool, error) {
	known, asked := f.served[gv.String()]
	if !asked {
		list, err := f.client.ServerResourcesForGroupVersion(gv.String())
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
func (f *fetcher) list(ctx context.Context, path string) error {
	most := f.most
	if most > 0 {
		most = max(1, most-f.read)
	}
	texts, version, err := live.Read(ctx, f.client.RESTClient(), path, most)
	if errors.Is(err, live.ErrTooMuch) {
		return tooMuch(f.most+1, f.most)
	}
	for _, t := range texts {
		f.read += int64(len(t.Text))
	}
	if err == nil {
		f.lists = append(f.lists, fetched{path, version, texts})
	}
	return err
}

// tooMuch is an error if objects have more octets than may be held for one person; 0 is no limit.
func tooMuch(octets, most int64) error {
	if most == 0 || octets <= most {
		return nil
	}
	return fmt.Errorf("your objects have more than the %d MiB that this console holds for one person; look into fewer "+
		"namespaces, use kubectl zonefold console, or have its administrator raise --objects", most>>20)
}

// watchClient returns a client whose answers may take for ever.
func watchClient(config *rest.Config) (rest.Interface, error) {
	config = rest.CopyConfig(config)
	config.QPS, config.Timeout = -1, 0
	config.NegotiatedSerializer = serializer.NewCodecFactory(runtime.NewScheme()).WithoutConversion()
	client, err := rest.UnversionedRESTClientFor(config)
	if err != nil {
		return nil, fmt.Errorf("connecting to the cluster: %w", err)
	}
	return client, nil
}
