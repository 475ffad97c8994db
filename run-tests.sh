#!/usr/bin/env bash
# Passes the tests on a fresh Debian machine with a Rust toolchain: installs the system packages that are missing, then
# checks formatting, lints and documentation, and runs every test. Tests that need a driver run on lavapipe.
set -euo pipefail
cd "$(dirname "$0")"

packages=(mesa-vulkan-drivers libvulkan1 libvulkan-dev spirv-tools vulkan-validationlayers llvm gcc g++ cmake make pkg-config)
missing=()
for package in "${packages[@]}"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing+=("$package")
done
if [ "${#missing[@]}" -gt 0 ]; then
    echo "Installing: ${missing[*]}"
    as_root=()
    [ "$(id -u)" -eq 0 ] || as_root=(sudo)
    "${as_root[@]}" apt-get update -q
    DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -q --no-install-recommends "${missing[@]}"
fi

# The CPU device, whatever else is installed. The loader knows one name or the other by its version.
icd=$(find /usr/share/vulkan/icd.d /etc/vulkan/icd.d -name 'lvp_icd*.json' 2>/dev/null | head -n 1)
[ -n "$icd" ] || { echo "error: lavapipe's lvp_icd*.json was not found, although mesa-vulkan-drivers is installed" >&2; exit 1; }
export VK_DRIVER_FILES="$icd" VK_ICD_FILENAMES="$icd"

cargo fmt --all --check
cargo clippy --workspace --all-targets --locked -- -D warnings
RUSTDOCFLAGS='-D warnings' cargo doc --workspace --no-deps --locked
cargo test --workspace --locked
