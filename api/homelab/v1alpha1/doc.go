// Package v1alpha1 holds the dns.homelab.mortenolsen.pro API: DNSClass, a server that speaks the signed webhook
// protocol of package dnshook, and DNSRecord, a record that such a server is to have. Objects of the existing system
// apply unchanged.
//
// +kubebuilder:object:generate=true
// +groupName=dns.homelab.mortenolsen.pro
package v1alpha1
