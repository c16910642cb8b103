#!/usr/bin/env bash
# A build whose npm fails knows why, says so, and tries again. With an npm and a cmake that only pretend.
#   plotting_library_test.sh SOURCE_FOLDER CMAKE
set -euo pipefail

source=$1 cmake=$2
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
fail() { printf 'FAIL: %s\n' "$*" >&2; exit 1; }
holds() { grep -qF -- "$2" <<<"$1" || fail "\"$2\" is not in \"$1\""; }

# ---- the configuration ----
mkdir -p "$place/source/src/report" "$place/bin" "$place/empty"
cp -r "$source/src/report/assets" "$place/source/src/report"
configure() {  # PATH of the programs
  PATH=$1 "$cmake" -DPROJECT_SOURCE_DIR="$place/source" -DPROJECT_BINARY_DIR="$place/binary" -DCMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF \
    -P "$source/cmake/plotting_library.cmake" 2>&1
}
pretend_npm() { printf '#!/bin/bash\n%s\n' "$1" >"$place/bin/npm" && chmod +x "$place/bin/npm"; }
reason() { cat "$place/binary/generated/no_library_reason.txt"; }

holds "$(configure "$place/empty")" "left out, because npm was not there"
holds "$(reason)" "npm was not there"
[[ -f $place/binary/left-out ]] || fail "nothing says that the library was left out"

pretend_npm 'echo "npm error code SELF_SIGNED_CERT_IN_CHAIN
npm error request to https://packages.example.org/vega failed, reason: self-signed certificate in certificate chain
npm error network If you are behind a proxy, ...
npm error A complete log of this run can be found in: /root/.npm/_logs/x.log" >&2; exit 1'
holds "$(configure "$place/bin")" "npm could not fetch it (self-signed certificate in certificate chain)"
holds "$(reason)" "npm could not fetch it (self-signed certificate in certificate chain)"
holds "$(cat "$place/binary/left-out")" "self-signed certificate"

pretend_npm 'echo "npm ERR! code ENOSPC
npm ERR! no space left on [device]; really
npm ERR! A complete log of this run can be found in:
npm ERR!     /root/.npm/_logs/x.log" >&2; exit 1'
holds "$(configure "$place/bin")" "npm could not fetch it (no space left on"

# Vega's interpreter is a module there, and a function in the page.
pretend_npm '/bin/mkdir -p node_modules/vega-interpreter/build &&
echo "import { ascending, isString } from '"'vega-util'"';
const expression = 1;
export { expression as expressionInterpreter };" >node_modules/vega-interpreter/build/vega-interpreter.js'
said=$(configure "$place/bin")
[[ -z $said ]] || fail "a build with the library complains: $said"
[[ -z $(reason) && ! -f $place/binary/left-out ]] || fail "what was fetched at last is still called left out"
interpreter=$(cat "$place/binary/generated/interpreter.js")
for line in "vega.expressionInterpreter = (() => {" "const { ascending, isString } = vega;" "return expression;" "})();"; do
  holds "$interpreter" "$line"
done
pretend_npm 'exit 1'
configure "$place/bin" >/dev/null
[[ ! -f $place/binary/left-out ]] || fail "what is there was fetched again"

# ---- the wrapper: a cmake that builds a program at once and leaves the library out as $place/why says ----
root=$place/root
mkdir -p "$root"/{scripts,include,src,cmake} && touch "$root/CMakeLists.txt" "$root/CMakePresets.json"
cp "$source/nalm" "$root"
printf '#!/bin/bash\n' >"$root/scripts/install-packages" && chmod +x "$root/scripts/install-packages"
cat >"$place/bin/cmake" <<FAKE
#!/bin/bash
build=$root/build/release
if [[ \$1 == --preset ]]; then
  echo configured >>"$place/configured"
  if [[ -s $place/why ]]; then cp "$place/why" \$build/left-out; else rm -f \$build/left-out; fi
  echo CMAKE_HOME_DIRECTORY:INTERNAL=$root >\$build/CMakeCache.txt && touch \$build/build.ninja
else
  printf '#!/bin/bash\necho answer\n' >\$build/nalm && chmod +x \$build/nalm
fi
FAKE
chmod +x "$place/bin/cmake"
configured() { grep -c configured "$place/configured"; }
start() { PATH=$place/bin:$PATH "$root/nalm" 2>&1; }

echo "npm could not fetch it (refused)" >"$place/why"
said=$(start)
holds "$said" "without HTML reports, because npm could not fetch it (refused)"
holds "$said" "answer"
[[ $(start) == answer && $(configured) == 1 ]] || fail "every start tries again"
touch -d '11 minutes ago' "$root/build/release/left-out"
holds "$(start)" "trying again to fetch the plotting library"
[[ $(configured) == 2 ]] || fail "no later start tries again"
echo "npm was not there" >"$root/build/release/left-out"  # there is one now
: >"$place/why"
said=$(start)
holds "$said" "trying again to fetch the plotting library"
! grep -q "without HTML" <<<"$said" || fail "what was fetched at last is still called left out: $said"
[[ $(start) == answer && $(configured) == 3 ]] || fail "a whole program is built again"
echo "the plotting library: left out, told and tried again"
