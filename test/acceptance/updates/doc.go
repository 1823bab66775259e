// Package updates has clients of dynamic updates (RFC 2136) that others have written judge the operator's name server:
// lego and certbot order certificates of Pebble, whose checks ask that server; cert-manager's solver and Kea's
// DHCP-DDNS do what they do in their own programs. It is a module of its own, because cert-manager's is large.
package updates
