# For nixpkgs: builds the source archive of the release.
{
  lib,
  stdenv,
  fetchurl,
  rustPlatform,
  installShellFiles,
  versionCheckHook,
}:

rustPlatform.buildRustPackage (finalAttrs: {
  pname = "urlsift";
  version = "VERSION";

  src = fetchurl {
    url = "REPOSITORY/releases/download/v${finalAttrs.version}/urlsift-${finalAttrs.version}.tar.gz";
    hash = "HASH-source";
  };

  # The first build fails and prints the hash that belongs here.
  cargoHash = lib.fakeHash;

  nativeBuildInputs = [ installShellFiles ];

  # They take ten minutes, and passed before the release.
  doCheck = false;

  postInstall = lib.optionalString (stdenv.buildPlatform.canExecute stdenv.hostPlatform) ''
    $out/bin/urlsift man >urlsift.1
    installManPage urlsift.1
    installShellCompletion --cmd urlsift \
      --bash <($out/bin/urlsift completions bash) \
      --fish <($out/bin/urlsift completions fish) \
      --zsh <($out/bin/urlsift completions zsh)
  '';

  doInstallCheck = true;
  nativeInstallCheckInputs = [ versionCheckHook ];
  versionCheckProgramArg = "-V";

  meta = {
    description = "Bulk URL scanner: judges every line under five URL grammars at once";
    homepage = "REPOSITORY";
    license = [
      lib.licenses.mpl20 # the Public Suffix List
      lib.licenses.mit # or
      lib.licenses.asl20
    ];
    mainProgram = "urlsift";
  };
})
