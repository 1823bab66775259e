// Package backendtest holds the one suite that every backend passes (Run), and a name server in memory that can be
// given the limits of any kind of server (Memory), for tests of whatever drives backends.
package backendtest
