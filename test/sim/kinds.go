package sim

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/controller/openapi/builder"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/client-go/applyconfigurations"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	"sigs.k8s.io/yaml"
)

// A kind is one of the kinds of objects that an API server has.
type kind struct {
	schema.GroupVersionKind
	plural     string
	namespaced bool
	hasStatus  bool    // as a subresource
	custom     *custom // nil: it is one of Kubernetes' own, whose content is not looked at

	typed *managedfields.FieldManager // of one of Kubernetes' own that operators apply
}

// fields is who notes who set which fields of a subresource, nil if nobody does.
func (k *kind) fields(subresource string) *managedfields.FieldManager {
	switch {
	case k.custom != nil:
		return k.custom.fields[subresource]
	case subresource == "":
		return k.typed
	}
	return nil
}

func (k *kind) resource() schema.GroupResource {
	return schema.GroupResource{Group: k.Group, Resource: k.plural}
}

// custom is what a CustomResourceDefinition says of a kind.
type custom struct {
	definition *unstructured.Unstructured
	structure  *structural.Structural
	types      validation.SchemaValidator
	status     validation.SchemaValidator
	rules      *cel.Validator
	fields     map[string]*managedfields.FieldManager // by subresource
}

// Kinds are the kinds of an API server. They hold no state, and take a second to make: many API servers share them.
type Kinds struct {
	all []*kind
}

// own are the kinds of Kubernetes that operators use.
func own() []*kind {
	v1 := func(group, name string) schema.GroupVersionKind {
		return schema.GroupVersionKind{Group: group, Version: "v1", Kind: name}
	}
	return []*kind{
		{v1("", "Namespace"), "namespaces", false, true, nil, nil},
		{v1("", "Secret"), "secrets", true, false, nil, nil},
		{v1("coordination.k8s.io", "Lease"), "leases", true, false, nil, nil},
		{v1("events.k8s.io", "Event"), "events", true, false, nil, nil},
		{v1("apiextensions.k8s.io", "CustomResourceDefinition"), "customresourcedefinitions", false, true, nil, nil},
		{v1("", "Pod"), "pods", true, true, nil, nil},
		{v1("", "Service"), "services", true, true, nil, nil},
		{v1("", "ConfigMap"), "configmaps", true, false, nil, nil},
		{v1("", "ServiceAccount"), "serviceaccounts", true, false, nil, nil},
		{v1("", "PersistentVolumeClaim"), "persistentvolumeclaims", true, true, nil, nil},
		{v1("apps", "Deployment"), "deployments", true, true, nil, nil},
		{v1("policy", "PodDisruptionBudget"), "poddisruptionbudgets", true, true, nil, nil},
		{v1("networking.k8s.io", "Ingress"), "ingresses", true, true, nil, nil},
		{v1("discovery.k8s.io", "EndpointSlice"), "endpointslices", true, false, nil, nil},
		{v1("", "Node"), "nodes", false, true, nil, nil},
		{v1("gateway.networking.k8s.io", "Gateway"), "gateways", true, true, nil, nil},
		{v1("gateway.networking.k8s.io", "ListenerSet"), "listenersets", true, true, nil, nil},
		{v1("gateway.networking.k8s.io", "HTTPRoute"), "httproutes", true, true, nil, nil},
		{v1("rbac.authorization.k8s.io", "ClusterRoleBinding"), "clusterrolebindings", false, false, nil, nil},
	}
}

// applied lets operators apply Kubernetes' own kinds that a server of a fleet is made of.
func applied(all []*kind) error {
	types := applyconfigurations.NewTypeConverter(clientgoscheme.Scheme)
	for _, k := range all {
		switch k.Kind {
		case "Secret", "Service", "ConfigMap", "ServiceAccount", "PersistentVolumeClaim", "Deployment", "PodDisruptionBudget":
			c := converter{k.GroupVersionKind}
			var err error
			if k.typed, err = managedfields.NewDefaultCRDFieldManager(types, c, c, c, k.GroupVersionKind, k.GroupVersion(), "",
				nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// NewKinds compiles the CustomResourceDefinitions in the YAML files of a folder.
func NewKinds(definitions fs.FS) (*Kinds, error) {
	files, err := fs.Glob(definitions, "*.yaml")
	if err != nil {
		return nil, fmt.Errorf("listing the CustomResourceDefinitions: %w", err)
	}
	k := &Kinds{all: own()}
	if err := applied(k.all); err != nil {
		return nil, fmt.Errorf("reading the types of Kubernetes: %w", err)
	}
	for _, name := range files {
		text, err := fs.ReadFile(definitions, name)
		if err != nil {
			return nil, fmt.Errorf("reading a CustomResourceDefinition: %w", err)
		}
		one, err := compile(text)
		if err != nil {
			return nil, fmt.Errorf("compiling the CustomResourceDefinition in %s: %w", name, err)
		}
		k.all = append(k.all, one)
	}
	return k, nil
}

// With returns the kinds with one that a CustomResourceDefinition defines in the place of the one of that name.
func (k *Kinds) With(definition []byte) (*Kinds, error) {
	one, err := compile(definition)
	if err != nil {
		return nil, fmt.Errorf("compiling a CustomResourceDefinition: %w", err)
	}
	all := slices.Clone(k.all)
	at := slices.IndexFunc(all, func(other *kind) bool { return other.GroupVersionKind == one.GroupVersionKind })
	if at < 0 {
		return nil, fmt.Errorf("there is no kind %s to be defined anew", one.GroupVersionKind)
	}
	all[at] = one
	return &Kinds{all: all}, nil
}

// compile makes a kind of a CustomResourceDefinition with one version.
func compile(text []byte) (*kind, error) {
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict(text, &crd); err != nil {
		return nil, err
	}
	apiextensionsv1.SetDefaults_CustomResourceDefinition(&crd)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&crd.Spec)
	version := crd.Spec.Versions[0]
	crd.Status.Conditions = []apiextensionsv1.CustomResourceDefinitionCondition{
		{Type: apiextensionsv1.Established, Status: apiextensionsv1.ConditionTrue}}
	crd.Status.StoredVersions = []string{version.Name}
	object, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&crd)
	if err != nil {
		return nil, err
	}
	out := &kind{
		schema.GroupVersionKind{Group: crd.Spec.Group, Version: version.Name, Kind: crd.Spec.Names.Kind},
		crd.Spec.Names.Plural,
		crd.Spec.Scope == apiextensionsv1.NamespaceScoped, version.Subresources != nil && version.Subresources.Status != nil,
		&custom{definition: &unstructured.Unstructured{Object: object}, fields: map[string]*managedfields.FieldManager{}},
		nil,
	}
	var props apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(version.Schema.OpenAPIV3Schema,
		&props, nil); err != nil {
		return nil, err
	}
	if out.custom.structure, err = structural.NewStructural(&props); err != nil {
		return nil, err
	}
	if out.custom.types, _, err = validation.NewSchemaValidator(&props); err != nil {
		return nil, err
	}
	status := props.Properties["status"]
	if out.custom.status, _, err = validation.NewSchemaValidator(&status); err != nil {
		return nil, err
	}
	out.custom.rules = cel.NewValidator(out.custom.structure, true, celconfig.PerCallLimit)
	models, err := builder.BuildOpenAPIV3(&crd, version.Name, builder.Options{})
	if err != nil {
		return nil, err
	}
	types, err := managedfields.NewTypeConverter(models.Components.Schemas, false)
	if err != nil {
		return nil, err
	}
	for _, subresource := range []string{"", "status"} {
		c := converter{out.GroupVersionKind}
		out.custom.fields[subresource], err = managedfields.NewDefaultCRDFieldManager(types, c, c, c, out.GroupVersionKind,
			out.GroupVersion(), subresource, out.unmanaged(subresource))
		if err != nil {
			return nil, err
		}
	}
	return out, nil
}

// converter makes objects of a kind that has one version, without defaults: these come later.
type converter struct{ schema.GroupVersionKind }

func (converter) Default(runtime.Object) {}

func (c converter) New(schema.GroupVersionKind) (runtime.Object, error) {
	out := &unstructured.Unstructured{}
	out.SetGroupVersionKind(c.GroupVersionKind)
	return out, nil
}

func (converter) Convert(in, out, _ any) error {
	return fmt.Errorf("there is one version: nothing is converted from %T to %T", in, out)
}

func (converter) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

func (converter) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

// complete leaves out what a kind does not know, and puts in what it takes for what is left out.
func (k *kind) complete(object *unstructured.Unstructured) {
	if k.custom == nil {
		switch k.Kind {
		case "Service":
			addressed(object)
		case "Secret":
			typeSecret(object)
		}
		return
	}
	pruning.Prune(object.Object, k.custom.structure, true)
	defaulting.Default(object.Object, k.custom.structure)
}

// decoded completes what a request says whole. A field of it that is null and must not be is left out; one that
// server-side apply has emptied stays.
func (k *kind) decoded(object *unstructured.Unstructured) {
	if k.custom != nil {
		defaulting.PruneNonNullableNullsWithoutDefaults(object.Object, k.custom.structure)
	}
	k.complete(object)
}

// unmanaged are the fields that nobody sets who writes to a subresource.
func (k *kind) unmanaged(subresource string) map[fieldpath.APIVersion]fieldpath.Filter {
	set := fieldpath.NewSet()
	switch {
	case subresource == "status":
		set.Insert(fieldpath.MakePathOrDie("metadata"))
		set.Insert(fieldpath.MakePathOrDie("spec"))
	case k.hasStatus:
		set.Insert(fieldpath.MakePathOrDie("status"))
	}
	return fieldpath.NewExcludeFilterSetMap(map[fieldpath.APIVersion]*fieldpath.Set{
		fieldpath.APIVersion(k.GroupVersion().String()): set,
	})
}

// find returns a kind by what a URL says of it, nil if there is none.
func (k *Kinds) find(group, version, plural string) *kind {
	for _, one := range k.all {
		if one.Group == group && one.Version == version && one.plural == plural {
			return one
		}
	}
	return nil
}

// versions are the versions of all groups.
func (k *Kinds) versions() []schema.GroupVersion {
	all := map[schema.GroupVersion]bool{}
	for _, one := range k.all {
		all[one.GroupVersion()] = true
	}
	return slices.SortedFunc(maps.Keys(all), func(a, b schema.GroupVersion) int { return compare(a.String(), b.String()) })
}

// resources are the kinds of one version, as discovery tells them.
func (k *Kinds) resources(of schema.GroupVersion) metav1.APIResourceList {
	out := metav1.APIResourceList{GroupVersion: of.String()}
	out.Kind, out.APIVersion = "APIResourceList", "v1"
	verbs := metav1.Verbs{"create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"}
	for _, one := range k.all {
		if one.GroupVersion() != of {
			continue
		}
		out.APIResources = append(out.APIResources, metav1.APIResource{Name: one.plural, Namespaced: one.namespaced,
			Kind: one.Kind, Verbs: verbs})
		if one.hasStatus {
			out.APIResources = append(out.APIResources, metav1.APIResource{
				Name: one.plural + "/status", Namespaced: one.namespaced, Kind: one.Kind, Verbs: metav1.Verbs{"get", "patch",
					"update"},
			})
		}
	}
	return out
}

// terminating is the phase of a namespace that is being deleted.
const terminating = string(corev1.NamespaceTerminating)
