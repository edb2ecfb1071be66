//go:build !js

package core_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// fusingTargets are the two for which the compiler fuses; reading its output needs neither processor.
var fusingTargets = map[string][]string{
	"arm64":    {"GOARCH=arm64"},
	"amd64 v3": {"GOARCH=amd64", "GOAMD64=v3"},
}

// fused matches a line of the compiler's listing whose instruction multiplies and adds with a single rounding:
// FMADDD, FNMSUBS and their like on arm64, VFMADD231SD and its like on amd64. It captures the place and the instruction.
var fused = regexp.MustCompile(`\(([^()]+:\d+)\)\s+((?:VFN?M|FN?M)(?:ADD|SUB)\w*)`)

// The compiler looks through calls that it inlines: the product may be an argument at the call, not on the line named.
const roundIt = "write float64(a*b) + c, and round a product that is passed to a short function as well"

func TestNoFusedMultiplyAdd(t *testing.T) {
	for name, env := range fusingTargets {
		t.Run(name, func(t *testing.T) {
			for _, place := range fusions(t, moduleRoot, moduleName+"/core/...", env) {
				t.Errorf("%s: a product is added without rounding on %s: %s", place, name, roundIt)
			}
		})
	}
}

// fusions lists where the compiled packages fuse, as file:line: instruction, each place once.
func fusions(t *testing.T, dir, pattern string, env []string) []string {
	t.Helper()
	// The go command keeps the listing with the compiled package and prints it again, so a second run costs little.
	build := exec.Command("go", "build", "-gcflags="+pattern+"=-S", pattern)
	build.Dir = dir
	build.Env = append(os.Environ(), append(env, "GOOS=linux", "CGO_ENABLED=0")...)
	listing, err := build.CombinedOutput()
	require.NoError(t, err, complaints(listing))
	require.Contains(t, string(listing), "TEXT", "the compiler printed no listing for "+pattern)
	return fusedLines(listing)
}

// complaint finds the compiler's errors: the listing around them can be a hundred megabytes.
var complaint = regexp.MustCompile(`(?m)^\S+\.go:\d+:\d+: .*$`)

func complaints(listing []byte) string {
	return string(bytes.Join(complaint.FindAll(listing, 10), []byte("\n")))
}

func fusedLines(listing []byte) []string {
	var places []string
	for _, m := range fused.FindAllSubmatch(listing, -1) {
		places = append(places, string(m[1])+": "+string(m[2]))
	}
	slices.Sort(places)
	return slices.Compact(places)
}

func TestTheFusionCheckSeesAFusion(t *testing.T) {
	dir := t.TempDir()
	const text = `package bad

func Fused(a, b, c float64) float64 { return a*b + c }

func FusedToo(a, b, c float64) float64 { c += b * a; return c }

func Rounded(a, b, c float64) float64 { return float64(a*b) + c }
`
	require.NoError(t, os.WriteFile(filepath.Join(dir, "bad.go"), []byte(text), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte("module bad\n\ngo 1.26\n"), 0o644))
	for name, env := range fusingTargets {
		t.Run(name, func(t *testing.T) {
			places := fusions(t, dir, "bad", env)
			if assert.Len(t, places, 2) {
				assert.True(t, strings.Contains(places[0], "bad.go:3: "), places[0])
				assert.True(t, strings.Contains(places[1], "bad.go:5: "), places[1])
			}
		})
	}
}

func TestFusedInstructionsAreRecognized(t *testing.T) {
	const listing = `
	0x0000 00000 (/m/core/a.go:3)	FMADDD	F0, F2, F1, F0
	0x0004 00004 (/m/core/a.go:4)	FNMSUBS	F0, F2, F1, F0
	0x0008 00008 (/m/core/a.go:5)	VFMADD231SD	X1, X0, X2
	0x000c 00012 (/m/core/a.go:5)	VFMADD231SD	X1, X0, X2
	0x0010 00016 (/m/core/a.go:6)	VFNMADD213SS	X1, X0, X2
	0x0014 00020 (/m/core/a.go:7)	FMULD	F0, F1, F2
	0x0018 00024 (/m/core/a.go:8)	FADDD	F0, F1, F2
`
	assert.Equal(t, []string{
		"/m/core/a.go:3: FMADDD", "/m/core/a.go:4: FNMSUBS", "/m/core/a.go:5: VFMADD231SD", "/m/core/a.go:6: VFNMADD213SS",
	}, fusedLines([]byte(listing)))
}
