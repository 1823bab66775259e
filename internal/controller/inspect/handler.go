package inspect

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	authorizationv1 "k8s.io/api/authorization/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	"sigs.k8s.io/controller-runtime/pkg/client"

	api "github.com/zonefold/zonefold/api/inspect/v1alpha1"
	"github.com/zonefold/zonefold/internal/controller/delivery"
	"github.com/zonefold/zonefold/internal/zone"
)

// What requests may cost: how many are answered at the same time, and how long one takes.
const (
	maxRequests = 32
	patience    = 5 * time.Second
)

// A Resource is a kind of object that can be inspected.
type Resource struct {
	Group, Plural string // of the object
	ID            func(namespace, name string) zone.ID
	Inspection    *delivery.Inspection
}

// name is what the kind is called here.
func (r *Resource) name() string { return api.Resource(r.Group, r.Plural) }

// Config is what is needed from outside.
type Config struct {
	Resources []Resource
	Proxy     *FrontProxy
	Client    client.Client // creates SubjectAccessReviews
	Pass      http.Handler  // has the replica that leads answer
	Log       *slog.Logger
}

// Handler returns the server.
func Handler(c Config) http.Handler {
	s := &server{c, map[string]Resource{}, make(chan struct{}, maxRequests), make(chan struct{}, maxDifferences)}
	for _, r := range c.Resources {
		s.resources[r.name()] = r
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /apis/"+api.APIVersion, s.bound(s.discover))
	mux.HandleFunc("GET /apis/"+api.APIVersion+"/namespaces/{namespace}/{resource}/{name}", s.bound(s.inspect))
	mux.HandleFunc("GET /apis/"+api.APIVersion+"/namespaces/{namespace}/{resource}/{name}/"+api.Difference, s.difference)
	mux.HandleFunc("/", s.bound(func(w http.ResponseWriter, r *http.Request) {
		s.refuse(w, apierrors.NewGenericServerResponse(http.StatusNotFound, r.Method, schema.GroupResource{}, "",
			"only single objects can be inspected, each by its namespace and name", 0, false))
	}))
	return mux
}

type server struct {
	Config
	resources map[string]Resource
	room      chan struct{}
	reading   chan struct{} // the same for differences
}

// bound has no more requests answered at a time than there is room for, each in time.
func (s *server) bound(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		select {
		case s.room <- struct{}{}:
			defer func() { <-s.room }()
		default:
			s.refuse(w, apierrors.NewTooManyRequests("too many objects are being inspected; try again", 1))
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), patience)
		defer cancel()
		next(w, r.WithContext(ctx))
	}
}

// discover tells the API server what there is. That is no secret.
func (s *server) discover(w http.ResponseWriter, r *http.Request) {
	if _, _, err := s.Proxy.who(r); err != nil {
		s.refuse(w, apierrors.NewUnauthorized(err.Error()))
		return
	}
	list := metav1.APIResourceList{TypeMeta: metav1.TypeMeta{Kind: "APIResourceList", APIVersion: "v1"},
		GroupVersion: api.APIVersion, APIResources: []metav1.APIResource{}}
	for _, one := range s.Resources {
		list.APIResources = append(list.APIResources, metav1.APIResource{Name: one.name(), Kind: api.Kind, Namespaced: true,
			Verbs: metav1.Verbs{"get"}})
	}
	answer(w, http.StatusOK, list)
}

func (s *server) inspect(w http.ResponseWriter, r *http.Request) {
	s.about(w, r, func(resource Resource, namespace, name string) (any, error) {
		found, err := resource.Inspection.Inspect(resource.ID(namespace, name))
		return inspectionOf(namespace, name, found), err
	})
}

// about answers a request about an object with what is told of it, if who asks may get it.
func (s *server) about(w http.ResponseWriter, r *http.Request,
	tell func(of Resource, namespace, name string) (any, error)) {
	passed := r.Clone(r.Context()) // with the headers that say who asks
	who, replica, err := s.Proxy.who(r)
	if err != nil {
		s.refuse(w, apierrors.NewUnauthorized(err.Error()))
		return
	}
	namespace, name := r.PathValue("namespace"), r.PathValue("name")
	resource, known := s.resources[r.PathValue("resource")]
	what := schema.GroupResource{Group: api.Group, Resource: r.PathValue("resource")}
	if !known {
		s.refuse(w, apierrors.NewNotFound(what, name))
		return
	}
	if !resource.Inspection.Leads() {
		if replica { // it passed on what it took us for the leader for
			s.refuse(w, apierrors.NewServiceUnavailable(delivery.ErrNotLeading.Error()+"; try again"))
			return
		}
		s.Pass.ServeHTTP(w, passed)
		return
	}
	if err := s.review(r.Context(), who, resource, namespace, name); err != nil {
		s.refuse(w, err)
		return
	}
	found, err := tell(resource, namespace, name)
	switch {
	case errors.Is(err, delivery.ErrUnknown):
		s.refuse(w, apierrors.NewNotFound(what, name))
	case err != nil:
		s.refuse(w, apierrors.NewServiceUnavailable(err.Error()+"; try again"))
	default:
		answer(w, http.StatusOK, found)
	}
}

// review asks whether somebody may get the object. Whether it is there is told to nobody else.
func (s *server) review(ctx context.Context, who user.Info, of Resource, namespace, name string) error {
	review := authorizationv1.SubjectAccessReview{Spec: authorizationv1.SubjectAccessReviewSpec{
		User: who.GetName(), UID: who.GetUID(), Groups: who.GetGroups(), Extra: map[string]authorizationv1.ExtraValue{},
		ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: "get", Group: of.Group, Resource: of.Plural,
			Namespace: namespace, Name: name},
	}}
	for key, values := range who.GetExtra() {
		review.Spec.Extra[key] = values
	}
	if err := s.Client.Create(ctx, &review); err != nil {
		s.Log.Error("the right to inspect an object cannot be checked", "error", err)
		return apierrors.NewServiceUnavailable("your right to get the object cannot be checked; try again")
	}
	if !review.Status.Allowed || review.Status.Denied {
		object := schema.GroupResource{Group: of.Group, Resource: of.Plural}
		return apierrors.NewForbidden(object, name, fmt.Errorf("user %q cannot get resource %q in API group %q in the "+
			"namespace %q", who.GetName(), of.Plural, of.Group, namespace))
	}
	return nil
}

// refuse answers with an error of the API.
func (s *server) refuse(w http.ResponseWriter, err error) {
	status := apierrors.NewInternalError(err)
	if known, ok := errors.AsType[*apierrors.StatusError](err); ok {
		status = known
	}
	body := status.Status()
	body.Kind, body.APIVersion = "Status", "v1"
	if body.Details != nil && body.Details.RetryAfterSeconds > 0 {
		w.Header().Set("Retry-After", fmt.Sprint(body.Details.RetryAfterSeconds))
	}
	answer(w, int(body.Code), body)
}

func answer(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body) // who asked has gone
}
