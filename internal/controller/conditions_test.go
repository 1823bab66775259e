package controller

import "testing"

func TestASentenceEndsInOneFullStop(t *testing.T) {
	for _, c := range []struct{ name, message, want string }{
		{"it ends with a domain name", "The server does not know key zonefold..", "The server does not know key zonefold."},
		{"it ends as it should", "The Backend can be used.", "The Backend can be used."},
		{"it was cut", "It is long...", "It is long..."},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, o := range []Outcome{OK(ReasonReady, c.message), Not(ReasonPending, c.message)} {
				if o.Message != c.want {
					t.Errorf("%q, want %q", o.Message, c.want)
				}
			}
		})
	}
}
