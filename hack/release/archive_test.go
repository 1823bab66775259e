package main

import (
	"archive/zip"
	"bytes"
	"io"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestArchives(t *testing.T) {
	at := time.Date(2026, 11, 26, 7, 1, 54, 0, time.UTC)
	files := []file{{"zonefold.exe", []byte("program"), true}, {"completions/zonefold.ps1", []byte("text"), false}}
	t.Run("what is packed for Unix is what is unpacked", func(t *testing.T) {
		packed, err := tarGzip(files, at)
		if err != nil {
			t.Fatal(err)
		}
		got, err := unpack(packed)
		if diff := cmp.Diff(files, got, cmp.AllowUnexported(file{})); diff != "" || err != nil {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	})
	t.Run("what is packed for Windows is what is unpacked", func(t *testing.T) {
		packed, err := zipped(files, at)
		if err != nil {
			t.Fatal(err)
		}
		in, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range in.File {
			text, err := f.Open()
			if err != nil {
				t.Fatal(err)
			}
			defer text.Close()
			if got, err := io.ReadAll(text); err != nil || f.Name != files[i].name || string(got) != string(files[i].text) ||
				!f.Modified.Equal(at) {
				t.Errorf("%s of %s holds %q (%v)", f.Name, f.Modified, got, err)
			}
		}
	})
}
