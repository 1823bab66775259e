// Package inspect serves what the operator knows of objects beyond their statuses (package api/inspect). It is behind
// the API server, as an aggregated API: the API server says who asks, with its front proxy's certificate
// (frontproxy.go), and a SubjectAccessReview about the object itself says whether they may know. handler.go answers.
// Nothing can be changed through it.
package inspect

// The rights to read who the front proxy is are those of a Role that Kubernetes brings,
// kube-system/extension-apiserver-authentication-reader, which the chart binds.
//
// +kubebuilder:rbac:groups=authorization.k8s.io,resources=subjectaccessreviews,verbs=create
// +kubebuilder:rbac:groups=apiregistration.k8s.io,resources=apiservices,resourceNames=v1alpha1.inspect.zonefold.dev,verbs=get;list;watch;patch
