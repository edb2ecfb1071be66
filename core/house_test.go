// Package core_test is the architecture as a test: which room may import which, and what core may contain at all.
// A rule in a document is forgotten; a failing test names the line that breaks it.
package core_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const (
	moduleName = "minilb"
	moduleRoot = ".." // tests run in their package's folder, natively and under node
)

var (
	base    = []string{"core/param", "core/stat"}
	parts   = []string{"core/pick", "core/health", "core/outlier", "core/retry", "core/drain"}
	onLB    = slices.Concat(base, []string{"core/lb"})
	onParts = slices.Concat(onLB, parts)
	allCore = slices.Concat(onParts, []string{"core/scenario", "core/sim"})
	onEdge  = slices.Concat(allCore, []string{"native/forward"})
	onHTTP  = slices.Concat(onEdge, []string{"native/front", "native/h1", "native/policyfile"})
	onProxy = slices.Concat(onHTTP, []string{"native/proxy"})
)

// arrows says for every package of the module which others it may import outside its tests. A package that is not here
// may not exist: whoever adds a room says where it stands.
var arrows = map[string][]string{
	"core":               nil,
	"core/param":         nil,
	"core/stat":          nil,
	"core/lb":            base,
	"core/pick":          onLB,
	"core/health":        onLB,
	"core/outlier":       onLB,
	"core/retry":         onLB,
	"core/drain":         onLB,
	"core/scenario":      onParts,
	"core/sim":           slices.Concat(onParts, []string{"core/scenario"}),
	"wasm/page":          allCore,
	"wasm/dom":           nil,
	"wasm/play":          slices.Concat(allCore, []string{"wasm/page", "wasm/dom"}),
	"wasm/play/e2e":      slices.Concat(allCore, []string{"wasm/page", "site"}),
	"wasm/edge":          onEdge,
	"native/forward":     allCore,
	"native/front":       {"native/forward"},
	"native/h1":          nil,
	"native/backend":     allCore,
	"native/policyfile":  allCore,
	"native/proxy":       onHTTP,
	"native/lab":         onProxy,
	"native/cli":         slices.Concat(onProxy, []string{"native/backend", "native/lab", "site"}),
	"native/minilb":      {"native/cli"},
	"scripts/proxybench": onProxy,
	"site":               nil,
	"scripts/same":       nil,
	"scripts/simulate":   {"core/scenario", "core/sim"},
	"scripts/tally":      nil,
}

// coreMayImport is the whole of the standard library for core, each with what it is there for.
var coreMayImport = map[string]string{
	"bytes":           "results and links as bytes",
	"cmp":             "orderings",
	"compress/flate":  "long links are deflated",
	"crypto/sha256":   "the digest of a result",
	"encoding":        "parameters that read themselves from text",
	"encoding/base64": "long links are base64url",
	"encoding/binary": "words from bytes, in a stated order",
	"encoding/hex":    "the digest of a result, in words",
	"encoding/json":   "results as JSON: fields in their order, map keys sorted",
	"errors":          "faults that a person can act on",
	"fmt":             "faults that a person can act on",
	"io":              "reading back a deflated link, within a limit",
	"iter":            "walks over state without a slice",
	"math":            "the exact functions only, see exactMath",
	"math/bits":       "integer arithmetic, the same everywhere",
	"math/rand/v2":    "generators with a seed only, see seededRand",
	"reflect":         "reading the tags of a Config once",
	"slices":          "sorting and searching",
	"sort":            "sorting and searching",
	"strconv":         "shortest numbers that read back to the same value",
	"strings":         "names and links",
	"sync":            "the pool's mutex",
	"sync/atomic":     "counters and snapshots on the hot path",
	"time":            "durations as the unit of parameters; never the clock",
	"unicode/utf8":    "checking names",
}

// coreMustNotImport adds the reason to the packages that somebody will reach for.
var coreMustNotImport = map[string]string{
	"container/heap": "boxes every event; the simulator's heap is typed",
	"context":        "core neither waits nor is cancelled; the shell does both",
	"hash/maphash":   "is seeded anew in every process, so the same key goes elsewhere after a restart",
	"log":            "core returns what happened; the shell prints it",
	"maps":           "its iterators walk in an order that changes from run to run",
	"math/rand":      "its functions share a global generator",
	"net":            "core opens no socket",
	"net/http":       "core opens no socket, and it adds 7 MB to the page",
	"os":             "core reads no file and no environment: everything is in the scenario",
	"runtime":        "a result may not depend on the machine",
	"unsafe":         "not needed, and layout differs between targets",
}

func TestArrowsPointOneWay(t *testing.T) {
	sources := readModule(t)
	for _, s := range sources {
		for _, v := range badArrows(s) {
			t.Error(v)
		}
	}
	assert.True(t, slices.ContainsFunc(sources, func(s source) bool { return s.room == "core" }), "no source was read")
}

func TestCoreIsPure(t *testing.T) {
	read := 0
	for _, s := range readModule(t) {
		if !s.inCore() {
			continue
		}
		read++
		for _, v := range impurities(s) {
			t.Error(v)
		}
	}
	assert.Positive(t, read, "no source was read")
}

// A violation is one line that breaks a rule, and the rule's reason.
type violation struct {
	where token.Position
	what  string
	why   string
}

func (v violation) String() string {
	return fmt.Sprintf("%s:%d: %s: %s", v.where.Filename, v.where.Line, v.what, v.why)
}

// A source is one parsed file that is not a test.
type source struct {
	room string // the package's path inside the module
	fset *token.FileSet
	file *ast.File
}

func (s source) inCore() bool { return s.room == "core" || strings.HasPrefix(s.room, "core/") }

func (s source) broken(at ast.Node, what, why string) violation {
	return violation{s.fset.Position(at.Pos()), what, why}
}

// imported lists the paths that the file imports, with the node to point at.
func (s source) imported() map[*ast.ImportSpec]string {
	paths := map[*ast.ImportSpec]string{}
	for _, spec := range s.file.Imports {
		paths[spec], _ = strconv.Unquote(spec.Path.Value)
	}
	return paths
}

// badArrows reports the imports inside the module that the table does not have.
func badArrows(s source) []violation {
	allowed, known := arrows[s.room]
	if !known {
		return []violation{s.broken(s.file.Name, "package "+s.room+" has no place in the house",
			"add it to arrows in core/house_test.go, with what it may import")}
	}
	var bad []violation
	for spec, p := range s.imported() {
		room, ours := strings.CutPrefix(p, moduleName+"/")
		if ours && !slices.Contains(allowed, room) {
			bad = append(bad, s.broken(spec, s.room+" imports "+room, "the arrows allow it "+list(allowed)))
		}
	}
	return bad
}

func list(rooms []string) string {
	if len(rooms) == 0 {
		return "no other room"
	}
	return strings.Join(rooms, ", ")
}

// readModule parses every file of the module that is not a test, whatever target it is for.
func readModule(t *testing.T) []source {
	t.Helper()
	fset := token.NewFileSet()
	var sources []source
	for _, top := range []string{"core", "wasm", "native", "site", "scripts"} {
		root := filepath.Join(moduleRoot, top)
		if _, err := os.Stat(root); os.IsNotExist(err) {
			continue // a room that is not furnished yet; core itself is asserted by the callers
		}
		require.NoError(t, filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return skipUnread(d, err)
			}
			if !strings.HasSuffix(p, ".go") || strings.HasSuffix(p, "_test.go") {
				return nil
			}
			file, err := parser.ParseFile(fset, p, nil, parser.ParseComments|parser.SkipObjectResolution)
			sources = append(sources, source{roomOf(p), fset, file})
			return err
		}))
	}
	return sources
}

// roomOf turns a file's path into its package's path inside the module.
func roomOf(p string) string {
	return strings.TrimPrefix(path.Dir(filepath.ToSlash(p)), moduleRoot+"/")
}

// skipUnread leaves out the folders that the go command leaves out too, and what npm fetched.
func skipUnread(d fs.DirEntry, err error) error {
	if err != nil {
		return err
	}
	name := d.Name()
	if name == "testdata" || name == "node_modules" || (len(name) > 2 && strings.ContainsAny(name[:1], "._")) {
		return fs.SkipDir
	}
	return nil
}

// parseSnippet is a file that a test of the checks makes up.
func parseSnippet(t *testing.T, room, text string) source {
	t.Helper()
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, room+"/bad.go", text, parser.SkipObjectResolution)
	require.NoError(t, err)
	return source{room, fset, file}
}

func TestTheArrowsCheckSeesABadArrow(t *testing.T) {
	cases := []struct{ room, imports, want string }{
		{"core/stat", "minilb/core/param", "core/stat/bad.go:2: core/stat imports core/param: the arrows allow it no other room"},
		{"core/lb", "minilb/core/pick", "core/lb imports core/pick: the arrows allow it core/param, core/stat"},
		{"core/pick", "minilb/core/health", "core/pick imports core/health"},
		{"core/scenario", "minilb/core/sim", "core/scenario imports core/sim"},
		{"core/sim", "minilb/native/forward", "core/sim imports native/forward"},
		{"native/forward", "minilb/native/proxy", "native/forward imports native/proxy"},
		{"native/minilb", "minilb/core/sim", "native/minilb imports core/sim"},
		{"core/extras", "fmt", "package core/extras has no place in the house"},
	}
	for _, c := range cases {
		bad := badArrows(parseSnippet(t, c.room, "package bad\nimport _ \""+c.imports+"\"\n"))
		if assert.Len(t, bad, 1, c.room) {
			assert.Contains(t, bad[0].String(), c.want)
		}
	}
	assert.Empty(t, badArrows(parseSnippet(t, "core/sim", "package sim\nimport _ \"minilb/core/scenario\"\n")))
}

func TestTheArrowsHaveNoCycle(t *testing.T) {
	for room, allowed := range arrows {
		for _, other := range allowed {
			_, known := arrows[other]
			assert.True(t, known, "%s may import %s, which is not a room", room, other)
			assert.NotContains(t, arrows[other], room, "%s and %s may import each other", room, other)
		}
	}
}
