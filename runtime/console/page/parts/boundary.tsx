import { Component, type ReactNode } from 'react'

interface BoundaryState {
  readonly failed: boolean
}

/** Keeps the rest of the page when a panel fails to render. React supports that for classes only. */
export class Boundary extends Component<{ readonly children: ReactNode }, BoundaryState> {
  override state: BoundaryState = { failed: false }

  static getDerivedStateFromError(): BoundaryState {
    return { failed: true }
  }

  override render(): ReactNode {
    if (!this.state.failed) return this.props.children
    return (
      <p className="notice bad" role="alert">
        This panel cannot be shown; the console of the browser says why.
      </p>
    )
  }
}
