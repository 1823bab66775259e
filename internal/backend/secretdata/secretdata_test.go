package secretdata

import (
	"strings"
	"testing"
)

func TestValues(t *testing.T) {
	for _, c := range []struct {
		name    string
		data    map[string][]byte
		options map[string]string
		read    func(*Reader) string
		want    string
		err     string // a part of it; "" for none
	}{
		{"the first spelling", map[string][]byte{"KEY": []byte("v")}, nil, func(r *Reader) string {
			return r.Need("KEY", "key")
		}, "v", ""},
		{"the other spelling", map[string][]byte{"key": []byte("v")}, nil, func(r *Reader) string {
			return r.Need("KEY", "key")
		}, "v", ""},
		{"both with one value", map[string][]byte{"KEY": []byte("v"), "key": []byte("v")}, nil, func(r *Reader) string {
			return r.Need("KEY", "key")
		}, "v", ""},
		{"both with different values", map[string][]byte{"KEY": []byte("s3cret"), "key": []byte("w")}, nil,
			func(r *Reader) string { return r.Need("KEY", "key") }, "s3cret",
			"the keys KEY and key mean the same setting but differ"},
		{"an empty value counts as none", map[string][]byte{"KEY": {}, "key": []byte("v")}, nil, func(r *Reader) string {
			return r.Need("KEY", "key")
		}, "v", ""},
		{"none of what is needed", map[string][]byte{"other": []byte("s3cret")}, nil, func(r *Reader) string {
			return r.Need("KEY", "key")
		}, "",
			"the Secret has no value for KEY or key; it has other"},
		{"none where none is needed", nil, nil, func(r *Reader) string { return r.Text("KEY") }, "", ""},
		{"a line end", map[string][]byte{"key": []byte("s3cret\n")}, nil, func(r *Reader) string {
			return r.Text("KEY", "key")
		}, "s3cret\n",
			"the value of key begins or ends with white space"},
		{"a control character", map[string][]byte{"KEY": []byte("s3\x00cret")}, nil, func(r *Reader) string {
			return r.Text("KEY")
		}, "s3\x00cret", "a control character"},
		{"a certificate has lines", map[string][]byte{"ca": []byte("a\nb\n")}, nil, func(r *Reader) string {
			return r.Lines("ca")
		}, "a\nb\n", ""},
		{"yes", map[string][]byte{"b": []byte("true")}, nil, func(r *Reader) string {
			return map[bool]string{true: "yes"}[r.Bool("b")]
		}, "yes", ""},
		{"neither yes nor no", map[string][]byte{"b": []byte("s3cret")}, nil, func(r *Reader) string {
			r.Bool("b")
			return ""
		}, "", "the value of b must be true or false"},
		{"an option", nil, map[string]string{"endpoint": "e"}, func(r *Reader) string { return r.Option("endpoint") }, "e",
			""},
		{"an option that nobody knows", nil, map[string]string{"endpont": "e"}, func(r *Reader) string {
			return r.Option("endpoint")
		}, "",
			`"endpont" is not a setting of this service; there are endpoint`},
		{"an option where there are none", nil, map[string]string{"x": "e"}, func(*Reader) string { return "" }, "",
			"there are none"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := New(c.data, c.options)
			if got := c.read(r); got != c.want {
				t.Errorf("read %q, want %q", got, c.want)
			}
			err := r.Err()
			if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Errorf("the error is %v, want %q", err, c.err)
			}
			if err != nil && strings.Contains(err.Error(), "s3") {
				t.Errorf("the error shows a value: %v", err)
			}
		})
	}
}
