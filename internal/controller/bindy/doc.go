// Package bindy carries out the dialect bindy.firestoned.io: it puts its rooms together, and is what the rest of the
// program knows of them. Package fleet runs the servers, package zones has zones served by them, and both find servers
// in package servers. The fleet knows the zones through an interface of five methods, and the zones know nothing of the
// fleet. Nothing is decided here.
package bindy
