package sim

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/yaml"
)

// An API is an API server: an http.RoundTripper to give to clients. It has the namespaces that are made in it, and
// answers as kube-apiserver does, with the same words where clients read them.
type API struct {
	kinds *Kinds
	store *store
	// decodes what clients of Kubernetes' own kinds send: JSON or Protobuf.
	decoder runtime.Decoder
	trouble trouble
	rights  *Rights                    // of who asks; nil: it may do everything
	denied  func(string)               // is told what was forbidden
	lag     func(string) time.Duration // how late a watch is; nil: never
}

// NewAPI makes an API server without objects but those of its kinds.
func NewAPI(kinds *Kinds, now func() time.Time) *API {
	a := &API{kinds: kinds, store: newStore(now),
		decoder: serializer.NewCodecFactory(clientgoscheme.Scheme).UniversalDeserializer()}
	a.trouble.away = make(chan struct{})
	definitions := kinds.find("apiextensions.k8s.io", "v1", "customresourcedefinitions")
	for _, k := range kinds.all {
		if k.custom == nil {
			continue
		}
		object := atopOf(k.custom.definition)
		object.SetUID(a.store.uid(false))
		a.store.put(ref{definitions, types.NamespacedName{Name: object.GetName()}}, object)
	}
	return a
}

// A request is one to the API server, as its URL says it.
type request struct {
	verb        string // "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"
	kind        *kind
	namespace   string
	name        string
	subresource string
	query       url.Values
	partial     bool // metadata are enough
}

func (q request) ref() ref {
	return ref{q.kind, types.NamespacedName{Namespace: q.namespace, Name: q.name}}
}

// RoundTrip implements http.RoundTripper.
func (a *API) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body != nil {
		defer r.Body.Close()
	}
	if err := r.Context().Err(); err != nil {
		return nil, err
	}
	path := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	if told := a.discover(path); told != nil {
		return answer(r, http.StatusOK, told)
	}
	q, err := a.read(r, path)
	if err == nil && a.rights != nil {
		err = a.forbid(q)
	}
	if err != nil {
		return failure(r, err)
	}
	switch q.verb {
	case "watch":
		return a.watch(r, q)
	case "list":
		return a.list(r, q)
	}
	var body []byte
	if r.Body != nil {
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
	}
	object, status, err := a.act(r, q, body)
	if err != nil {
		return failure(r, err)
	}
	if tell, ok := r.Context().Value(written{}).(func(*unstructured.Unstructured)); ok {
		tell(object)
	}
	return answer(r, status, q.shown(object))
}

// forbid returns the answer to a request that is not allowed.
func (a *API) forbid(q request) error {
	err := a.rights.allow(q)
	if err != nil {
		a.denied(err.Error())
	}
	return err
}

// act does what a request for one object asks for.
func (a *API) act(r *http.Request, q request, body []byte) (*unstructured.Unstructured, int, error) {
	w := write{
		ref: q.ref(), subresource: q.subresource, manager: manager(r, q.query), force: q.query.Get("force") == "true",
		dry: q.query.Get("dryRun") == "All",
	}
	var object *unstructured.Unstructured
	var made bool
	var err error
	switch q.verb {
	case "get":
		object, err = a.get(w.ref)
	case "create":
		made = true
		if q.subresource == "token" {
			object, err = a.decode(body, r.Header.Get("Content-Type"))
			return granted(object), http.StatusCreated, err
		}
		if object, err = a.decode(body, r.Header.Get("Content-Type")); err == nil {
			object, err = a.create(r.Context(), w, object)
		}
	case "update":
		if object, err = a.decode(body, r.Header.Get("Content-Type")); err == nil {
			object, made, err = a.update(r.Context(), w, object)
		}
	case "patch":
		object, made, err = a.patch(r.Context(), w, types.PatchType(r.Header.Get("Content-Type")), body)
	case "delete", "deletecollection":
		options := &metav1.DeleteOptions{}
		if err := a.decodeOptions(body, r.Header.Get("Content-Type"), options); err != nil {
			return nil, 0, apierrors.NewBadRequest(err.Error())
		}
		if q.verb == "deletecollection" {
			return a.removeAll(q, options)
		}
		object, err = a.remove(w.ref, options)
	}
	if made {
		return object, http.StatusCreated, err
	}
	return object, http.StatusOK, err
}

func (a *API) get(r ref) (*unstructured.Unstructured, error) {
	a.store.mu.Lock()
	defer a.store.mu.Unlock()
	if object := a.store.objects[r]; object != nil {
		return object, nil
	}
	return nil, apierrors.NewNotFound(r.kind.resource(), r.Name)
}

// removeAll deletes what a list would show.
func (a *API) removeAll(q request, options *metav1.DeleteOptions) (*unstructured.Unstructured, int, error) {
	test, err := q.test()
	if err != nil {
		return nil, 0, err
	}
	a.store.mu.Lock()
	refs := a.store.sorted(test)
	a.store.mu.Unlock()
	for _, r := range refs {
		if _, err := a.remove(r, options); err != nil && !apierrors.IsNotFound(err) {
			return nil, 0, err
		}
	}
	return gone(), http.StatusOK, nil
}

// manager is who sets fields: by name, or by the program that asks.
func manager(r *http.Request, query url.Values) string {
	if m := query.Get("fieldManager"); m != "" {
		return m
	}
	agent, _, _ := strings.Cut(r.UserAgent(), "/")
	return agent
}

// read understands the URL of a request.
func (a *API) read(r *http.Request, path []string) (request, error) {
	q := request{query: r.URL.Query(), partial: strings.Contains(r.Header.Get("Accept"), "as=PartialObjectMetadata")}
	var version schema.GroupVersion
	switch {
	case len(path) > 2 && path[0] == "api":
		version, path = schema.GroupVersion{Version: path[1]}, path[2:]
	case len(path) > 3 && path[0] == "apis":
		version, path = schema.GroupVersion{Group: path[1], Version: path[2]}, path[3:]
	default:
		return q, errNoKind(r.Method, schema.GroupResource{}, "")
	}
	if path[0] == "namespaces" && len(path) > 2 && path[2] != "status" {
		q.namespace, path = path[1], path[2:]
	}
	if q.kind = a.kinds.find(version.Group, version.Version, path[0]); q.kind == nil {
		return q, errNoKind(r.Method, schema.GroupResource{Group: version.Group, Resource: path[0]}, "")
	}
	if len(path) > 1 {
		q.name = path[1]
	}
	if len(path) > 2 {
		q.subresource = path[2]
	}
	if q.subresource != "" && (q.subresource != "status" || !q.kind.hasStatus) &&
		(q.subresource != "token" || q.kind.plural != "serviceaccounts") {
		return q, errNoKind(r.Method, q.kind.resource(), q.name)
	}
	q.verb = verb(r.Method, q)
	return q, nil
}

// errNoKind is the answer where nothing of that kind is served.
func errNoKind(method string, of schema.GroupResource, name string) error {
	return apierrors.NewGenericServerResponse(http.StatusNotFound, method, of, name,
		"the server could not find the requested resource", 0, true)
}

func verb(method string, q request) string {
	switch {
	case method == http.MethodGet && q.name == "" && q.query.Get("watch") != "" && q.query.Get("watch") != "false":
		return "watch"
	case method == http.MethodGet && q.name == "":
		return "list"
	case method == http.MethodDelete && q.name == "":
		return "deletecollection"
	}
	return map[string]string{
		http.MethodGet: "get", http.MethodPost: "create", http.MethodPut: "update", http.MethodPatch: "patch",
		http.MethodDelete: "delete",
	}[method]
}

// decode reads an object, as JSON, YAML or, where it is one of Kubernetes' own kinds, Protobuf.
func (a *API) decode(body []byte, contentType string) (*unstructured.Unstructured, error) {
	out := &unstructured.Unstructured{}
	if strings.Contains(contentType, "protobuf") {
		typed, kind, err := a.decoder.Decode(body, nil, nil)
		if err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		if out.Object, err = runtime.DefaultUnstructuredConverter.ToUnstructured(typed); err != nil {
			return nil, apierrors.NewBadRequest(err.Error())
		}
		out.SetGroupVersionKind(*kind)
		return out, nil
	}
	if out.UnmarshalJSON(body) == nil { // reading YAML takes ten times as long
		return out, nil
	}
	body, err := yaml.YAMLToJSON(body)
	if err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	if err := out.UnmarshalJSON(body); err != nil {
		return nil, apierrors.NewBadRequest(err.Error())
	}
	return out, nil
}

// decodeOptions reads how something is to be deleted.
func (a *API) decodeOptions(body []byte, contentType string, options *metav1.DeleteOptions) error {
	switch {
	case len(body) == 0:
		return nil
	case strings.Contains(contentType, "protobuf"):
		_, _, err := a.decoder.Decode(body, nil, options)
		return err
	}
	return yaml.Unmarshal(body, options)
}

// shown is what a client gets to see of an object.
func (q request) shown(object *unstructured.Unstructured) map[string]any {
	if !q.partial {
		return object.Object
	}
	return map[string]any{"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata",
		"metadata": object.Object["metadata"]}
}

// discover answers what clients ask first: which kinds there are. It returns nil if that is not the question.
func (a *API) discover(path []string) any {
	switch {
	case len(path) == 1 && path[0] == "api":
		return metav1.APIVersions{TypeMeta: metav1.TypeMeta{Kind: "APIVersions"}, Versions: []string{"v1"}}
	case len(path) == 1 && path[0] == "apis":
		out := metav1.APIGroupList{TypeMeta: metav1.TypeMeta{Kind: "APIGroupList", APIVersion: "v1"}}
		for _, v := range a.kinds.versions() {
			if v.Group == "" {
				continue
			}
			served := metav1.GroupVersionForDiscovery{GroupVersion: v.String(), Version: v.Version}
			out.Groups = append(out.Groups, metav1.APIGroup{Name: v.Group, Versions: []metav1.GroupVersionForDiscovery{served},
				PreferredVersion: served})
		}
		return out
	case len(path) == 2 && path[0] == "api":
		return a.kinds.resources(schema.GroupVersion{Version: path[1]})
	case len(path) == 3 && path[0] == "apis":
		return a.kinds.resources(schema.GroupVersion{Group: path[1], Version: path[2]})
	}
	return nil
}

// answer makes a response of a value.
func answer(r *http.Request, status int, value any) (*http.Response, error) {
	body, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encoding an answer: %w", err)
	}
	return respond(r, status, io.NopCloser(bytes.NewReader(body)), int64(len(body))), nil
}

func respond(r *http.Request, status int, body io.ReadCloser, length int64) *http.Response {
	return &http.Response{
		Status: http.StatusText(status), StatusCode: status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: http.Header{"Content-Type": {"application/json"}}, Body: body, ContentLength: length, Request: r,
	}
}

// failure makes a response of an error.
func failure(r *http.Request, err error) (*http.Response, error) {
	status := metav1.Status{Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: err.Error()}
	if s, ok := err.(apierrors.APIStatus); ok {
		status = s.Status()
	}
	status.Kind, status.APIVersion = "Status", "v1"
	return answer(r, int(status.Code), status)
}
